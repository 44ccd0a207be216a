import { Argument, type Command, type Option } from 'commander'
import { shellQuote } from '../../src/card/index.ts'
import type { AddCommand } from '../options.ts'

/** Adds `completion`, which prints a script that completes command lines in a shell. */
export const addCompletion: AddCommand = (program, context) => {
  program
    .command('completion')
    .description('print a script that completes commands, options and values in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .action((shell: keyof typeof SCRIPTS) => context.terminal.out(SCRIPTS[shell](listLevels(program))))
}

/** The name of a command, or a value of an argument, which has no description. */
type Word = { name: string; description: string }

/** An option with its path after each command, such as ` token create --scope`, and the completion of its value. */
type Choice = { option: Option; names: string[]; paths: string[]; values: string }

/** The words and options after a command. `path` has a space and a name for each, such as ` token create`. */
type Level = { path: string; words: Word[]; choices: Choice[]; takesFiles: boolean }

/** Returns the levels of a command: it first, then each of its commands. `help` takes the names of its `siblings`. */
const listLevels = (command: Command, path = '', siblings: readonly string[] = []): Level[] => {
  const help = command.createHelp()
  const children = help.visibleCommands(command)
  const names = children.map(child => child.name())
  const { registeredArguments: args } = command
  const values = command.name() === 'help' ? siblings : args.flatMap(each => each.argChoices ?? [])
  const own: Level = {
    path,
    words: [
      ...children.map(child => ({ name: child.name(), description: child.description() })),
      ...values.map(name => ({ name, description: '' })),
    ],
    choices: help.visibleOptions(command).map(option => {
      const { short, long, argChoices, flags } = option
      const names = [short ?? [], long ?? []].flat()
      const [, kind] = /[<[](file|folder)[>\]]/.exec(flags) ?? []
      const values = argChoices ? `words ${argChoices.join(' ')}` : kind ? `${kind}s` : ''
      return { option, names, paths: names.map(name => `${path} ${name}`), values }
    }),
    takesFiles: args.some(argument => /^files?$/.test(argument.name())),
  }
  return [own, ...children.flatMap(child => listLevels(child, `${path} ${child.name()}`, names))]
}

/** Returns the paths of commands, and those of options after which a value must follow. */
const listPaths = (levels: readonly Level[]) => ({
  commands: levels.slice(1).map(({ path }) => path),
  options: levels.flatMap(({ choices }) => choices.flatMap(({ option, paths }) => (option.required ? paths : []))),
})

/** Returns the function of bash and zsh that suggests what can follow the words `before`, if it begins with `cur`. */
const suggestFunction = (levels: readonly Level[]): string => {
  const { commands, options } = listPaths(levels)
  const caseOf = (patterns: readonly string[], action: string): string =>
    `    ${patterns.map(pattern => `"${pattern}"`).join(' | ')}) ${action} ;;`
  const suggest = (words: readonly Word[]): string =>
    ['_sync_card_words', ...words.map(({ name, description }) => shellQuote(`${name}:${description}`))].join(' ')
  const values = levels
    .flatMap(({ choices }) => choices)
    .flatMap(({ paths, values }) => (values === '' ? [] : [caseOf(paths, `_sync_card_${values}; return`)]))
  const suggestions = levels.map(({ path, words, choices, takesFiles }) => {
    const flags = choices.flatMap(({ names, option: { description } }) => names.map(name => ({ name, description })))
    const rest = `${suggest(words)}${takesFiles ? '; _sync_card_files' : ''}`
    return caseOf([path], `if [[ $cur == -* ]]; then ${suggest(flags)}; else ${rest}; fi`)
  })
  return `_sync_card_suggest() {
  local word level="" option="" is_value=no
  for word in "\${before[@]}"; do
    if [[ $is_value == yes ]]; then is_value=no option=""; continue; fi
    option=$word
    case "$level $word" in
${caseOf(commands, 'level="$level $word"')}
${caseOf(options, 'is_value=yes')}
    esac
  done
  case "$level $option" in
${values.join('\n')}
  esac
  if [[ $is_value == yes ]]; then return; fi
  case "$level" in
${suggestions.join('\n')}
  esac
}`
}

const bashScript = (
  levels: readonly Level[],
): string => `# Completion of sync-card for bash. In ~/.bashrc: eval "$(sync-card completion bash)"
_sync_card_words() {
  local word
  for word in "\${@%%:*}"; do if [[ $word == "$cur"* ]]; then COMPREPLY+=("$word"); fi; done
}
_sync_card_paths() {
  local path
  compopt -o filenames 2>/dev/null
  while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$1" -- "$cur")
}
_sync_card_files() { _sync_card_paths -f; }
_sync_card_folders() { _sync_card_paths -d; }
${suggestFunction(levels)}
_sync_card() {
  local word before=() cur="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  # In --format=json, the equals sign is a word of its own.
  if [[ $cur == "=" ]]; then cur=""; fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do if [[ $word != "=" ]]; then before+=("$word"); fi; done
  _sync_card_suggest
}
complete -F _sync_card sync-card`

const zshScript = (levels: readonly Level[]): string => `#compdef sync-card
# Completion of sync-card for zsh. In ~/.zshrc, after compinit: eval "$(sync-card completion zsh)"
_sync_card_words() {
  local -a suggestions
  suggestions=("\${@%:}")
  _describe value suggestions
}
_sync_card_files() { _files }
_sync_card_folders() { _files -/ }
${suggestFunction(levels)}
_sync_card() {
  local cur="\${words[CURRENT]}"
  local -a before
  before=("\${(@)words[2,CURRENT-1]}")
  _sync_card_suggest
  return 0
}
if [[ "$funcstack[1]" == "_sync_card" ]]; then _sync_card "$@"; else compdef _sync_card sync-card; fi`

const fishScript = (levels: readonly Level[]): string => {
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const { commands, options } = listPaths(levels)
  const rules = levels.flatMap(({ path, words, choices, takesFiles }) => {
    const at = `complete -c sync-card -n ${quote(`__sync_card_at ${quote(path)}`)}`
    return [
      ...words.map(({ name, description }) => `${at} -a ${name} -d ${quote(description)}`),
      ...(takesFiles ? [`${at} -F`] : []),
      ...choices.map(({ option: { description, required }, names, values }) => {
        const flags = names.map(name => name.replace(/^--/, '-l ').replace(/^-(?=\w$)/, '-s ')).join(' ')
        const value = FISH_VALUES[values] ?? values.replace(/^words (.*)/, " -x -a '$1'")
        return `${at} ${flags} -d ${quote(description)}${value || (required ? ' -x' : '')}`
      }),
    ]
  })
  return `# Completion of sync-card for fish. In ~/.config/fish/config.fish: sync-card completion fish | source
function __sync_card_at
    set -l level ''
    set -l is_value no
    for word in (commandline -opc)[2..-1]
        if test $is_value = yes
            set is_value no
            continue
        end
        switch "$level $word"
            case ${commands.map(quote).join(' ')}
                set level "$level $word"
            case ${options.map(quote).join(' ')}
                set is_value yes
        end
    end
    test "$level" = "$argv[1]"
end
complete -c sync-card -f
${rules.join('\n')}`
}

const FISH_VALUES: Record<string, string> = {
  files: ' -r -F',
  folders: " -x -a '(__fish_complete_directories (commandline -ct))'",
}

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript }
