# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Prints the words that zsh offers for a command line, one on each line: zsh -f offers.zsh FOLDER
# LINE [SETUP]
#
# The folder has the function _posixtrace, or the command SETUP loads it. Completion works in an
# interactive shell only, so one runs on a pseudo-terminal. compadd is replaced there by a function
# that prints the matches.
zmodload zsh/zpty || exit 77
folder=$1 line=$2 load=${3-}

zpty offers zsh -f -i
answer=
await() {
	local piece
	answer=
	while zpty -r offers piece; do
		answer+=$piece
		[[ $answer == *$1* ]] && return
	done
}

cat >$folder/setup <<'END'
PROMPT=
unsetopt zle_bracketed_paste 2>/dev/null
unset zle_bracketed_paste
compadd() {
	local -a hits
	if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
		builtin compadd "$@"
		return
	fi
	builtin compadd -A hits "$@"
	(($#hits)) || return 1
	print -rl -- $hits >>FOLDER/hits
}
print-offers() {
	_main_complete
	print -r -- all-""offered
	exit
}
zle -C print-offers complete-word print-offers
bindkey '^I' print-offers
END
if [[ $load ]]; then
	print -r -- $load
else
	print -r -- "fpath=($folder \$fpath); autoload -Uz compinit; compinit -u -d $folder/dump"
fi >>$folder/setup
sed -i "s|FOLDER|$folder|g" $folder/setup
: >$folder/hits
zpty -w offers "source $folder/setup; print is-\"\"ready"
await is-ready
zpty -w -n offers "$line"$'\t'
await all-offered
zpty -d offers
sort -u $folder/hits
