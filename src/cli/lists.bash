
# What stands behind the last separator of a list is completed, and not `none`, which stands alone.
_zooquake_lists() {
    local given=$2 listed=
    case $3 in
        --faults | --variants | --zookeeper)
            listed=${given%"${given##*[,+]}"}
            ;;
    esac
    _zooquake "$1" "${given#"$listed"}" "$3"
    if [[ -n $listed ]]; then
        local each all=()
        for each in "${COMPREPLY[@]}"; do
            [[ $each == none ]] || all+=("$listed$each")
        done
        COMPREPLY=("${all[@]}")
    fi
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _zooquake_lists -o nosort -o bashdefault -o default zooquake
fi
