// The completion scripts. Each passes the words of the line to the program and offers its output as
// candidates.
#include "completion.hpp"

namespace sepconv::app {

namespace {

// bash also splits words at ':' and '=', and replaces only the text after the last of them. The script
// therefore rejoins the words and returns only that part of each candidate. In a word with an open quote,
// bash replaces all text after the quote.
constexpr const char* kBash = R"SH(# sepconv completion for bash; use:  source <(sepconv completion bash)
_sepconv() {
  local rest="${COMP_LINE:0:COMP_POINT}" spaces kept found i
  local -a words=() answer=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    spaces="${rest%%[![:space:]]*}"
    rest="${rest#"$spaces"}"
    if ((i == 0)) || [[ -n $spaces ]]; then words+=(''); fi
    if ((i == COMP_CWORD)); then
      words[-1]+="$rest"
    else
      words[-1]+="${COMP_WORDS[i]}"
      rest="${rest#"${COMP_WORDS[i]}"}"
    fi
  done
  kept="${words[-1]%"${words[-1]##*[:=]}"}"
  if [[ ${words[-1]} == [\'\"]* ]]; then words[-1]="${words[-1]:1}" kept=''; fi
  mapfile -t answer < <("${words[0]/#\~\//$HOME/}" completion bash -- "${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  case "${answer[0]}" in
    files | value-files) return 0 ;;
    folders) compopt -o dirnames +o default 2>/dev/null; return 0 ;;
  esac
  compopt +o default 2>/dev/null
  for found in "${answer[@]:1}"; do
    found="${found%% -- *}"
    COMPREPLY+=("${found#"$kept"}")
  done
  [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o default -F _sepconv sepconv
)SH";

constexpr const char* kZsh = R"SH(#compdef sepconv
# sepconv completion for zsh; use:  source <(sepconv completion zsh)
_sepconv() {
  local -a answer found
  answer=("${(@f)$(${~words[1]} completion zsh -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  found=("${(@)${(@)answer[2,-1]}%% -- *}")
  case "$answer[1]" in
    files) _files ;;
    value-files) compset -P '*='; _files ;;
    folders) _files -/ ;;
    words)
      compadd -S '' -- "${(@M)found:#*=}"
      compadd -- "${(@)found:#*=}"
      ;;
  esac
}
if [[ $funcstack[1] == _sepconv ]]; then
  _sepconv "$@"
else
  compdef _sepconv sepconv
fi
)SH";

constexpr const char* kFish = R"SH(# sepconv completion for fish; use:  sepconv completion fish | source
function __sepconv_complete
    set -l words (commandline -opc)
    set -l word (string replace -r '^["\']' '' -- (commandline -ct))
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    set -l answer ($program completion fish -- $words[2..-1] "$word" 2>/dev/null)
    switch "$answer[1]"
        case files
            __fish_complete_path "$word"
        case value-files
            set -l before (string replace -r '[^=]*$' '' -- "$word")
            for path in (__fish_complete_path (string replace -r '^.*=' '' -- "$word"))
                echo $before$path
            end
        case folders
            __fish_complete_directories "$word" ''
        case words
            string replace -- ' -- ' \t $answer[2..-1]
    end
end
complete -c sepconv -f -a '(__sepconv_complete)'
)SH";

}  // namespace

std::string completion_script(const std::string& shell) {
  return shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish;
}

}  // namespace sepconv::app
