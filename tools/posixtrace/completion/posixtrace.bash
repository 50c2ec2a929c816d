# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of posixtrace for bash.

_posixtrace()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local command=${COMP_WORDS[1]} options= value=

	local commands='
		record
		attach
		top
		list
		status
		snapshot
		recover
		dump
		report
		stat
		latency
		why
		diff
		query
		check
		plot
		html
		symbols
		verify
		convert
		send
		receive'

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W "$commands help --help --version" -- "$current"))
		return
	fi
	case $command in
	help)
		COMPREPLY=($(compgen -W "$commands" -- "$current"))
		return
		;;
	record)
		options='--output --force --trace --function --event --exclude --follow --no-follow --wait --duration --policy --loop
			--snapshot-on --size --log-policy --log-size --pid --quiet --fail-on-loss --help'
		value='-d --duration --function -e --event -x --exclude -s --size --log-size'
		case $previous in
		-p | --pid)
			COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$current"))
			return
			;;
		--trace)
			COMPREPLY=($(compgen -W 'alloc lock lock-hold io stdio net thread process signal time dl
				func all default none' -- "$current"))
			return
			;;
		--policy)
			COMPREPLY=($(compgen -W 'flush until-full loop' -- "$current"))
			return
			;;
		--log-policy)
			COMPREPLY=($(compgen -W 'append until-full loop' -- "$current"))
			return
			;;
		--snapshot-on)
			COMPREPLY=($(compgen -W 'exit crash SIGUSR1' -- "$current"))
			return
			;;
		-o | --output) ;;
		*)
			if [[ $current != -* && " ${value//$'\n'/ } " != *" $previous "* ]]; then
				compopt -o filenames 2>/dev/null
				local IFS=$'\n'
				COMPREPLY=($(compgen -c -f -- "$current"))
				return
			fi
			;;
		esac
		;;
	attach)
		options='--pid --output --force --duration --event --policy --size --inherit --log-policy
			--log-size --json --fail-on-loss --help'
		value='-d --duration -e --event -s --size --log-size'
		case $previous in
		-p | --pid)
			COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$current"))
			return
			;;
		--policy)
			COMPREPLY=($(compgen -W 'flush until-full loop' -- "$current"))
			return
			;;
		--log-policy)
			COMPREPLY=($(compgen -W 'append until-full loop' -- "$current"))
			return
			;;
		esac
		;;
	top)
		options='--pid --delay --count --batch --once --rows --size --help'
		value='-d --delay -n --count --rows -s --size'
		case $previous in
		-p | --pid)
			COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$current"))
			return
			;;
		esac
		;;
	list)
		options='--json --fail-on-loss --help'
		;;
	status)
		options='--utc --raw --json --fail-on-loss --help'
		;;
	snapshot)
		options='--pid --output --force --name --json --fail-on-loss --help'
		value='-n --name'
		case $previous in
		-p | --pid)
			COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$current"))
			return
			;;
		esac
		;;
	recover)
		options='--output --force --name --json --fail-on-loss --help'
		value='-n --name'
		;;
	dump)
		options='--event --exclude --pid --tid --begin --end --where --limit --tail --pair --fields --merge
			--clock-error --utc --raw --system --hex --symbols --debug-dir --no-demangle
			--json --salvage --fail-on-loss --help'
		value='-e --event -x --exclude --pid --tid --begin --end --where --limit --tail --pair --fields
			--clock-error'
		;;
	report)
		options='--template --check --list --event --exclude --pid --tid --begin --end --where --limit
			--tail --pair --fields --debug-dir --no-demangle --clock-error --output --force --utc --raw
			--help'
		value='-e --event -x --exclude --pid --tid --begin --end --where --limit --tail --pair -d -k -p -T'
		value+=' --fields --clock-error'
		if [[ $previous == -O ]]; then
			COMPREPLY=($(compgen -W 'ids= exec= pid= tid= timestamp= starttime= endtime=' -- "$current"))
			return
		fi
		;;
	symbols)
		options='--debug-dir --json --help'
		;;
	stat)
		options='--utc --raw --json --fail-on-loss --threads --help'
		;;
	query)
		options='--csv --json --tables --utc --debug-dir --no-demangle --help'
		;;
	latency)
		options='--pair --slowest --around --event --exclude --pid --tid --begin --end --where --utc --raw
			--json --help'
		value='--pair --slowest --around -e --event -x --exclude --pid --tid --begin --end --where'
		;;
	why)
		options='--span --slowest --thread --between --aggregate --utc --raw --json --debug-dir --no-demangle
			--help'
		value='--span --slowest --thread --between'
		;;
	diff)
		options='--level --margin --relative --all --pair --event --exclude --pid --tid --begin --end --where
			--utc --json --fail-on-difference --help'
		value='--level --margin --pair -e --event -x --exclude --pid --tid --begin --end --where'
		;;
	check)
		options='--tap --junit --syntax --event --exclude --pid --tid --begin --end --where --utc --help'
		value='-e --event -x --exclude --pid --tid --begin --end --where'
		;;
	plot)
		options='--output --force --pair --event --exclude --pid --tid --begin --end --where --utc --help'
		value='--pair -e --event -x --exclude --pid --tid --begin --end --where'
		;;
	html)
		options='--output --force --items --pair --event --exclude --pid --tid --begin --end --where --utc --help'
		value='--items --pair -e --event -x --exclude --pid --tid --begin --end --where'
		;;
	verify)
		options='--limit --json --fail-on-loss --help'
		value='--limit'
		;;
	convert)
		options='--from --to --output --force --event --exclude --pid --tid --begin --end --where
			--clock-error --utc --list --fail-on-loss --help'
		value='-O -e --event -x --exclude --pid --tid --begin --end --where --clock-error'
		case $previous in
		-f | --from)
			COMPREPLY=($(compgen -W "$(posixtrace convert --list 2>/dev/null |
				sed -n 's/^\([a-z]*\) *reads .*/\1/p')" -- "$current"))
			return
			;;
		-t | --to)
			COMPREPLY=($(compgen -W "$(posixtrace convert --list 2>/dev/null |
				sed -n 's/^\([a-z]*\) .* writes .*/\1/p')" -- "$current"))
			return
			;;
		esac
		;;
	send)
		options='--pid --output --force --duration --size --inherit --no-context --help'
		value='-d --duration -s --size'
		case $previous in
		-p | --pid)
			COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$current"))
			return
			;;
		esac
		;;
	receive)
		options='--output --force --to --dialect --baud --max-frame --fail-on-loss --help'
		value='--baud --max-frame'
		case $previous in
		-t | --to)
			COMPREPLY=($(compgen -W "$(posixtrace convert --list 2>/dev/null |
				sed -n 's/^\([a-z]*\) .* writes .*/\1/p')" -- "$current"))
			return
			;;
		--dialect)
			COMPREPLY=($(compgen -W 'ptx rkh3 rkh2' -- "$current"))
			return
			;;
		esac
		;;
	*)
		return
		;;
	esac
	# An option's value is a number, a time or a glob: nothing to offer.
	if [[ " ${value//$'\n'/ } " == *" $previous "* ]]; then
		return
	fi
	if [[ $current == -?* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$current"))
	elif [[ $command == status ]]; then
		COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$current"))
	elif [[ $command != list ]]; then
		compopt -o filenames 2>/dev/null
		local IFS=$'\n'
		COMPREPLY=($(compgen -f -- "$current"))
	fi
}

complete -F _posixtrace posixtrace
