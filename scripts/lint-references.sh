#!/usr/bin/env bash
# lint-references.sh [ROOT]: fails on a citation that leads nowhere, and names file and line:
#   - a page that is not in the repository, or "the source" of a statement without its name;
#   - a path docs/... that does not exist, a section of docs/theory that its page does not have;
#   - the path of a file of src, include, tools, tests, bench, scripts, examples or cmake that does not exist;
#   - a link of a Markdown file to a file or heading that does not exist;
#   - a publication [Name99] that docs/references.md does not list;
#   - a guide or format that docs/guide/index.md does not link to, a public header that docs/guide/headers.md does not name.
set -euo pipefail
root=${1:-$(dirname "$0")/..}
cd "$root"

files() { # tracked files; all of them where there is no git
    git ls-files 2>/dev/null | grep . || find . -type f -not -path './.git/*' -not -path './build/*' | sed 's|^\./||'
}
list=$(mktemp) found=$(mktemp)
trap 'rm -f "$list" "$found"' EXIT
exec 3>"$found" # what is found goes there
files | grep -E '\.(c|h|cu|cuh|cpp|md|sh|py|js|html|txt|cmake|cases|in)$|(^|/)Makefile$|^\.ci/' |
    grep -vE '^(scripts/lint-references\.sh|tests/cli/references\.sh|LICENSE)$' >"$list"
search() { tr '\n' '\0' <"$list" | xargs -0 grep -IHn "$@" || true; } # FILE:LINE:TEXT

# ---- names that lead nowhere ----------------------------------------------------------------------------------------------------------------
source_of='(own|rule|method|text|table|tables|scheme|operator|finding|design|numbers|chapter)'
{
    search -E '\b[Ss]pecs?[ /][a-z-]+\.md|\b[Ss]pecs? [0-9]+(\.[0-9]+)?\b|\bdesign\.md\b' | sed 's/$/   <- names no page of this repository/'
    search -E "\\b[Tt]he sources?'s? $source_of\\b|\\b[Tt]he sources? (says?|gives?|calls?|prints?|claims?|leaves?|takes|states|compares?|describes?)\\b|\\((the|as the) sources?\\b|\\bas (in )?the sources? (has|have|does|do)\\b|\\b(errata|experiments|tables?|bars?) of the sources?\\b" |
        sed 's/$/   <- which source?/'
} >&3

# ---- paths and sections -----------------------------------------------------------------------------------------------------------------------
search -oE '\bdocs/[A-Za-z0-9_./-]+\.(md|png)( [0-9]+(, [0-9]+| to [0-9]+)*)?' |
    awk -F: '
        function headings(page,   line, n) {
            if (page in known) return
            known[page] = 1
            while ((getline line < page) > 0)
                if (line ~ /^## [0-9]+\. /) { n = line; sub(/^## /, "", n); sub(/\..*/, "", n); has[page, n] = 1 }
            close(page)
        }
        function exists(path,   line, r) { if (!(path in there)) { r = (getline line < path); close(path); there[path] = r >= 0 } return there[path] }
        { text = $3; path = text; sub(/ .*/, "", path); rest = substr(text, length(path) + 2)
          if (!exists(path)) { print $1 ":" $2 ":" text "   <- no such file"; next }
          if (path !~ /^docs\/theory\//) next
          headings(path)
          gsub(/,| to /, " ", rest)
          n = split(rest, number, " ")
          for (i = 1; i <= n; i++) if (!((path, number[i]) in has)) print $1 ":" $2 ":" text "   <- no section " number[i] }' >&3

# ---- files of the tree ----------------------------------------------------------------------------------------------------------------------------
{ grep -vE '\.(sh|txt|cmake|in|cases)$|^\.ci/' "$list" | tr '\n' '\0' |
    xargs -0 grep -IHnoE '(^|[^A-Za-z0-9_./-])(src|include|tools|tests|bench|scripts|examples|cmake)/[A-Za-z0-9_./-]+\.(cuh|cu|cpp|cmake|cases|json|py|sh|c|h)\b' || true; } |
    while IFS=: read -r file line path; do
        case $path in [!a-z]*) path=${path#?} ;; esac
        [ -e "$path" ] || echo "$file:$line:$path   <- no such file"
    done >&3

# ---- links of Markdown files --------------------------------------------------------------------------------------------------------------------
grep -E '\.md$' "$list" | while IFS= read -r page; do
    awk -v page="$page" '
        function slug(h) {
            sub(/^#+ +/, "", h); h = tolower(h); gsub(/[^a-z0-9_ -]/, "", h); gsub(/ /, "-", h); return h
        }
        function anchors(path,   line, fence) {
            if (path in read_) return
            read_[path] = 1
            while ((getline line < path) > 0) { if (line ~ /^```/) fence = !fence; else if (!fence && line ~ /^#+ /) anchor[path, slug(line)] = 1 }
            close(path)
        }
        function exists(path,   line, r) { r = (getline line < path); close(path); return r >= 0 }
        BEGIN { folder = page; if (!sub(/[^\/]*$/, "", folder)) folder = "" }
        /^ *```/ { fence = !fence; next }
        fence || /^    / { next }
        { line = $0
          while (match(line, /\]\([^() ]+\)/)) {
              target = substr(line, RSTART + 2, RLENGTH - 3); line = substr(line, RSTART + RLENGTH)
              if (target ~ /^[a-z]+:/) continue
              mark = ""; if ((i = index(target, "#")) > 0) { mark = substr(target, i + 1); target = substr(target, 1, i - 1) }
              path = target == "" ? page : folder target
              while (match(path, /[^\/.]+\/\.\.\//)) path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
              if (!exists(path)) { print page ":" NR ":(" target ")   <- no such file"; continue }
              if (mark != "" && path ~ /\.md$/) { anchors(path); if (!((path, mark) in anchor)) print page ":" NR ":(" target "#" mark ")   <- no such heading" }
          } }' "$page"
done >&3

# ---- publications ----------------------------------------------------------------------------------------------------------------------------------
search -oE '\[[A-Z][a-z]+[0-9]{2}[a-z]?( [^]]*)?\]' |
    awk -F: '
        BEGIN { while ((getline line < "docs/references.md") > 0) while (match(line, /\[[A-Z][A-Za-z0-9]+\]/)) { tag[substr(line, RSTART + 1, RLENGTH - 2)] = 1; line = substr(line, RSTART + RLENGTH) } }
        $1 != "docs/references.md" { name = $3; sub(/^\[/, "", name); sub(/[] ].*/, "", name); if (name != "Name99" && !(name in tag)) print $1 ":" $2 ":[" name "]   <- not in docs/references.md" }' >&3

# ---- what nothing leads to ------------------------------------------------------------------------------------------------------------------------
lost() { # INDEX PATTERN FILE...: the name of each file, as the pattern's %s, stands in the index
    local index=$1 pattern=$2 file
    shift 2
    for file in "$@"; do
        # shellcheck disable=SC2059 # the pattern is ours
        if [ -e "$file" ] && [ -e "$index" ] && [ "$file" != "$index" ]; then
            grep -qF -- "$(printf "$pattern" "${file##*/}")" "$index" || echo "$file:1:   <- $index does not lead to it" >&3
        fi
    done
}
lost docs/guide/index.md '%s)' docs/guide/*.md docs/formats/*.md
lost docs/guide/headers.md '%s' include/tessera/*.h

if [ -s "$found" ]; then
    sort -u "$found" >&2
    echo "references: $(sort -u "$found" | wc -l) citations lead nowhere" >&2
    exit 1
fi
echo "references: every citation leads somewhere"
