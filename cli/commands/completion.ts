import { Argument, type Command, type Option } from 'commander'
import type { AddCommand } from '../options.ts'

/** Adds `completion`, which prints a script that completes command lines in a shell, and what that script asks for. */
export const addCompletion: AddCommand = (program, { terminal }) => {
  program
    .command('completion')
    .description('print a script that completes commands, options and values in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .argument('[words...]', 'used by the script: print what the last of these words can be')
    .action((shell: keyof typeof SCRIPTS, words: string[]) => {
      const lines = words.length === 0 ? [SCRIPTS[shell]] : suggest(program, words)
      for (const line of lines) terminal.out(line)
    })
}

/** Stand for the names of files and folders, which the shell knows. */
const FILES = ':files'
const FOLDERS = ':folders'

/** Returns what the last word can be: names, each with a tab and its description, or files, or folders. */
const suggest = (program: Command, words: readonly string[]): string[] => {
  const help = program.createHelp()
  const current = words.at(-1) ?? ''
  let [command, parent] = [program, program]
  let option: Option | undefined
  for (const word of words.slice(0, -1)) {
    const isValue = option?.required === true
    option = isValue ? undefined : help.visibleOptions(command).find(({ short, long }) => [short, long].includes(word))
    const child = isValue ? undefined : help.visibleCommands(command).find(each => each.name() === word)
    if (child) [command, parent] = [child, command]
  }
  const list = (names: readonly string[], description = '') =>
    names.filter(name => name.startsWith(current)).map(name => `${name}\t${description}`.trimEnd())
  if (option?.argChoices) return list(option.argChoices)
  const [, kind] = /[<[](file|folder)[>\]]/.exec(option?.flags ?? '') ?? []
  if (kind) return [kind === 'file' ? FILES : FOLDERS]
  if (option?.required) return []
  if (current.startsWith('-'))
    return help
      .visibleOptions(command)
      .flatMap(({ short, long, description }) => list([short ?? [], long ?? []].flat(), description))
  const { registeredArguments: args } = command
  // `help` takes the name of a command beside it.
  const commands = help.visibleCommands(command.name() === 'help' ? parent : command)
  return [
    ...commands.flatMap(each => list([each.name()], each.description())),
    ...list(args.flatMap(({ argChoices }) => argChoices ?? [])),
    ...(args.some(argument => /^files?$/.test(argument.name())) ? [FILES] : []),
  ]
}

const SCRIPTS = {
  bash: `# Completion of sync-card for bash. In ~/.bashrc: eval "$(sync-card completion bash)"
_sync_card_paths() {
  local path
  compopt -o filenames 2>/dev/null
  while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$1" -- "$cur")
}
_sync_card() {
  local line word before=() cur="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  # In --format=json, the equals sign is a word of its own.
  if [[ $cur == "=" ]]; then cur=""; fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do if [[ $word != "=" ]]; then before+=("$word"); fi; done
  while IFS= read -r line; do
    case $line in
      ${FILES}) _sync_card_paths -f ;;
      ${FOLDERS}) _sync_card_paths -d ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(sync-card completion bash -- "\${before[@]}" "$cur" 2>/dev/null)
}
complete -F _sync_card sync-card`,
  zsh: `#compdef sync-card
# Completion of sync-card for zsh. In ~/.zshrc, after compinit: eval "$(sync-card completion zsh)"
_sync_card() {
  local line
  local -a suggestions
  for line in "\${(@f)$(sync-card completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      ${FILES}) _files ;;
      ${FOLDERS}) _files -/ ;;
      ?*) suggestions+=("\${line/$'\\t'/:}") ;;
    esac
  done
  _describe value suggestions
  return 0
}
if [[ "$funcstack[1]" == "_sync_card" ]]; then _sync_card "$@"; else compdef _sync_card sync-card; fi`,
  fish: `# Completion of sync-card for fish. In ~/.config/fish/config.fish: sync-card completion fish | source
function __sync_card_suggest
    for line in (sync-card completion fish -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
        switch $line
            case ${FILES}
                __fish_complete_path (commandline -ct)
            case ${FOLDERS}
                __fish_complete_directories (commandline -ct)
            case '*'
                echo $line
        end
    end
end
complete -c sync-card -f -a '(__sync_card_suggest)'`,
}
