# shellcheck shell=bash
# Sourced. stage NAME COMMAND...: runs the command and adds "NAME wall CPU" (seconds, CPU of all its processes) to build/stages; its exit code is
# the command's. stages_table prints what was noted.
stage() {
    local TIMEFORMAT="${1// /-} %0R %0U %0S"
    shift
    mkdir -p build
    { time "$@" 2>&3; } 3>&2 2>>build/stages
}

stages_table() {
    awk '{ wall = $2; cpu = $3 + $4; all_wall += wall; all_cpu += cpu; gsub("-", " ", $1); printf "%-16s %6d s %6d s of CPU\n", $1, wall, cpu }
         END { printf "%-16s %6d s %6d s of CPU\n", "all stages", all_wall, all_cpu }' build/stages
}
