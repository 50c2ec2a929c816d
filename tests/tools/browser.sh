# SPDX-License-Identifier: LGPL-2.1-or-later
# tools/browser.sh - runs scripts in pages of posixtrace html; sourced by tests behind lib.sh. $browser is
# empty if there is no browser.

# in_browser FILE SCRIPT: runs the script in the page; the value of data-test is in $tmp/answer.
in_browser() {
	sed "s|^</body>|<script>document.documentElement.dataset.test = JSON.stringify($2)</script></body>|" "$1" >"$tmp/asked.html"
	HOME=$tmp timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$tmp/profile" --window-size=1200,700 --dump-dom "file://$tmp/asked.html" \
		>"$tmp/dom" 2>"$tmp/browser.err"
	sed -n 's/.*<html[^>]* data-test="\([^"]*\)".*/\1/p' "$tmp/dom" | sed 's/&quot;/"/g' >"$tmp/answer"
}
answers() { test "$(cat "$tmp/answer")" = "$1" && return 0; echo "answer: $(cat "$tmp/answer"), not $1"; return 1; }
in_dom() { grep -q -e "$1" "$tmp/dom"; }

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
