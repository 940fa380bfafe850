#!/bin/bash
# Reviews the haptic snapshots that a pull request changes: draws them before and after, describes
# the differences in words, and comments on the pull request.
#
#   haptics-review.sh [BASE]
#
# BASE is the commit to compare with; by default that of the event in GITHUB_EVENT_PATH. Run it in a
# checkout that contains BASE. Requires git and temblor; jq and curl to comment.
#
#   TEMBLOR           the program (default: temblor)
#   HAPTICS_OUTPUT    the folder for comment.md and the pictures (default: haptics-review)
#   HAPTICS_BRANCH    the branch that receives the pictures; without it, the comment has no pictures
#   GITHUB_TOKEN      the token for the comment; without it, comment.md is only written
set -euo pipefail

temblor=${TEMBLOR:-temblor}
output=${HAPTICS_OUTPUT:-haptics-review}
marker='<!-- haptics-review -->'

fail() {
  echo "haptics-review: $1" >&2
  exit 1
}

event() {
  [ -n "${GITHUB_EVENT_PATH:-}" ] || return 0
  jq -r "$1 // empty" "$GITHUB_EVENT_PATH"
}

base=${1:-$(event .pull_request.base.sha)}
[ -n "$base" ] || fail "no base; name a commit, or set GITHUB_EVENT_PATH to the event of a pull request"
git cat-file -e "$base^{commit}" 2>/dev/null || fail "the commit $base is absent; fetch it, for example by fetch-depth: 0"
command -v "$temblor" >/dev/null || fail "'$temblor' is not a program; set TEMBLOR"
mkdir -p "$output"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
comment="$output/comment.md"
pictures=()

# Writes the revision of a snapshot to a file. Returns 1 if it is absent.
revision() {
  if [ "$1" = after ]; then
    [ -f "$2" ] && cp "$2" "$3"
  else
    git cat-file -e "$base:$2" 2>/dev/null && git show "$base:$2" > "$3"
  fi
}

# Draws a pattern as PNG.
draw() {
  "$temblor" plot "$1" -o "$output/$2" --width 600
  pictures+=("$2")
}

# Prints the sentences of a comparison: the second paragraph of the report.
differences() {
  "$temblor" compare --all "$1" "$2" > "$work/report" || return 1
  awk 'BEGIN { RS = "" } NR == 2' "$work/report" | sed -E 's/^( *)/\1- /'
}

picture() { [ -n "$pictures_url" ] && echo "![$1]($pictures_url/$2)" || echo "$2"; }

# Writes the section of one snapshot.
review() {
  local file=$1 number=$2 name before="$work/before.ahap" after="$work/after.ahap"
  local has_before=0 has_after=0
  name=$(basename "$file" .ahap)
  rm -f "$before" "$after"
  revision before "$file" "$before" && has_before=1
  revision after "$file" "$after" && has_after=1
  echo
  echo "#### $name"
  echo
  echo "\`$file\`"
  echo
  case $has_before$has_after in
    10) echo "The snapshot was removed." ;;
    01)
      echo "The snapshot is new."
      echo
      picture "new" "$number-after.png"
      ;;
    11)
      differences "$before" "$after"
      echo
      echo "| before | after |"
      echo "| --- | --- |"
      echo "| $(picture before "$number-before.png") | $(picture after "$number-after.png") |"
      ;;
  esac
}

# Commits the pictures to a branch of their own, and prints the address of their folder.
publish() {
  local tree commit parent
  parent=$(git ls-remote origin "refs/heads/$HAPTICS_BRANCH" | cut -f 1)
  if [ -n "$parent" ]; then
    git fetch --quiet --depth 1 origin "$parent"
  fi
  tree=$(for name in "${pictures[@]}"; do
    printf '100644 blob %s\t%s\n' "$(git hash-object -w "$output/$name")" "$name"
  done | git mktree)
  commit=$(git -c user.name=haptics-review -c user.email=haptics-review@localhost \
    commit-tree "$tree" ${parent:+-p "$parent"} -m "Pictures of haptic snapshots")
  git push --quiet origin "$commit:refs/heads/$HAPTICS_BRANCH"
  echo "${GITHUB_SERVER_URL:-https://github.com}/${GITHUB_REPOSITORY:-}/raw/$commit"
}

api() {
  curl --silent --show-error --fail \
    --header "Authorization: Bearer $GITHUB_TOKEN" --header "Accept: application/vnd.github+json" \
    "$@"
}

# Creates the comment, or replaces that of an earlier run, which may have reported changes that were
# reverted since. Without a change, there is no new comment.
post() {
  local issue=$1 comments id
  comments="${GITHUB_API_URL:-https://api.github.com}/repos/$GITHUB_REPOSITORY/issues"
  id=$(api "$comments/$issue/comments?per_page=100" \
    | jq --arg marker "$marker" -r '[.[] | select(.body | startswith($marker))][0].id // empty')
  jq -Rs '{body: .}' "$comment" > "$work/body.json"
  if [ -n "$id" ]; then
    api --request PATCH --data "@$work/body.json" "$comments/comments/$id" > /dev/null
  elif [ ${#files[@]} -gt 0 ]; then
    api --request POST --data "@$work/body.json" "$comments/$issue/comments" > /dev/null
  fi
}

mapfile -d '' -t files < <(git diff --name-only -z --no-renames "$base" -- \
  ':(glob)**/__Haptics__/**/*.ahap')
number=0
for file in "${files[@]}"; do
  number=$((number + 1))
  for side in before after; do
    if revision "$side" "$file" "$work/$side.ahap"; then
      draw "$work/$side.ahap" "$number-$side.png"
    fi
  done
done

pictures_url=
if [ -n "${HAPTICS_BRANCH:-}" ] && [ ${#pictures[@]} -gt 0 ]; then
  pictures_url=$(publish)
fi
{
  echo "$marker"
  echo "### Haptics"
  if [ ${#files[@]} -eq 0 ]; then
    echo
    echo "No haptic snapshot changes."
  fi
  number=0
  for file in "${files[@]}"; do
    number=$((number + 1))
    review "$file" "$number"
  done
} > "$comment"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  cat "$comment" >> "$GITHUB_STEP_SUMMARY"
fi
issue=$(event .pull_request.number)
if [ -n "${GITHUB_TOKEN:-}" ] && [ -n "$issue" ]; then
  post "$issue"
fi
echo "${#files[@]} snapshots changed; $comment"
