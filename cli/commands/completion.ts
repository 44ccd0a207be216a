import { Argument, type Command, type Option } from 'commander'
import { shellQuote } from '../curl.ts'
import type { AddCommand } from '../options.ts'

/** Adds `completion`, which prints a script that completes command lines in a shell. */
export const addCompletion: AddCommand = (program, context) => {
  program
    .command('completion')
    .description('print a script that completes commands, options and values in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .action((shell: keyof typeof SCRIPTS) => context.terminal.out(SCRIPTS[shell](listLevels(program))))
}

/** What can follow a command: `path` has the words before it, such as `token create`; it is empty for the program itself. */
type Level = { path: string; commands: Word[]; flags: Flag[]; choices: string[]; takesFiles: boolean }

type Word = { name: string; description: string }

/** An option with its names. Without `values`, it takes none. */
type Flag = { names: string[]; description: string; values?: Values }

/** What an option takes: one of these words, paths, or what no script knows. An option may do without an `optional` value. */
type Values = { kind: 'words' | 'files' | 'folders' | 'unknown'; words: readonly string[]; optional: boolean }

/** Returns the levels of a program: it first, then each of its commands. */
const listLevels = (program: Command): Level[] => {
  const visit = (command: Command, path: string[]): Level[] => {
    const help = command.createHelp()
    const children = help.visibleCommands(command)
    const names = children.map(child => child.name())
    const own: Level = {
      path: path.join(' '),
      commands: children.map(child => ({ name: child.name(), description: child.description() })),
      flags: help.visibleOptions(command).map(toFlag),
      choices: command.registeredArguments.flatMap(argument => argument.argChoices ?? []),
      takesFiles: command.registeredArguments.some(argument => argument.name() === 'files'),
    }
    const below = children.flatMap(child => visit(child, [...path, child.name()]))
    // `help` takes the names of the commands beside it.
    return [own, ...below.map(level => (isHelpOf(level, path) ? { ...level, choices: names } : level))]
  }
  return visit(program, [])
}

const isHelpOf = ({ path }: Level, parent: readonly string[]): boolean => path === [...parent, 'help'].join(' ')

const toFlag = (option: Option): Flag => {
  const { short, long, description, required, optional, argChoices, flags } = option
  const names = [short, long].filter(name => name !== undefined)
  if (!required && !optional) return { names, description }
  const kind = argChoices
    ? 'words'
    : /[<[]folder[>\]]/.test(flags)
      ? 'folders'
      : /[<[]file[>\]]/.test(flags)
        ? 'files'
        : 'unknown'
  return { names, description, values: { kind, words: argChoices ?? [], optional } }
}

/** Returns all pairs of a level and a word after it, as the scripts compare them. */
const pairsOf = (levels: readonly Level[], wordsOf: (level: Level) => readonly string[]): string[] =>
  levels.flatMap(level => wordsOf(level).map(word => `${level.path} ${word}`))

const commandPairs = (levels: readonly Level[]): string[] =>
  pairsOf(levels, ({ commands }) => commands.map(({ name }) => name))

/** Returns the pairs of options after which a value must follow. */
const valuePairs = (levels: readonly Level[]): string[] =>
  pairsOf(levels, ({ flags }) => flags.flatMap(({ names, values }) => (values && !values.optional ? names : [])))

/** Returns what a script does where options take values, and their pairs. Where any word may follow, it suggests nothing. */
const valueActions = (
  levels: readonly Level[],
  actionOf: (values: Values) => string,
): { pairs: string[]; action: string }[] => {
  const pairsByAction = new Map<string, string[]>()
  for (const { path, flags } of levels)
    for (const { names, values } of flags) {
      if (!values || (values.optional && values.kind === 'unknown')) continue
      const action = actionOf(values)
      const pairs = names.map(name => `${path} ${name}`)
      pairsByAction.set(action, [...(pairsByAction.get(action) ?? []), ...pairs])
    }
  return [...pairsByAction].map(([action, pairs]) => ({ action, pairs }))
}

const doubleQuoted = (texts: readonly string[]): string => texts.map(text => `"${text}"`).join(' | ')

const bashScript = (levels: readonly Level[]): string => {
  const values = valueActions(
    levels,
    ({ kind, words }) =>
      ({
        words: `_sync_card_words "${words.join(' ')}"; return`,
        files: '_sync_card_paths -f; return',
        folders: '_sync_card_paths -d; return',
        unknown: 'return',
      })[kind],
  ).map(({ pairs, action }) => `    ${doubleQuoted(pairs)}) ${action} ;;`)
  const suggestions = levels.map(({ path, commands, flags, choices, takesFiles }) => {
    const words = [...commands.map(({ name }) => name), ...choices].join(' ')
    const options = flags.flatMap(({ names }) => names).join(' ')
    const rest = takesFiles ? `_sync_card_words "${words}"; _sync_card_paths -f` : `_sync_card_words "${words}"`
    return `    "${path}") if [[ $cur == -* ]]; then _sync_card_words "${options}"; else ${rest}; fi ;;`
  })
  return `# Completion of sync-card for bash. In ~/.bashrc: eval "$(sync-card completion bash)"
_sync_card_words() {
  local word
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$1" -- "$cur")
}
_sync_card_paths() {
  local word
  compopt -o filenames 2>/dev/null
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$1" -- "$cur")
}
_sync_card() {
  local level="" i cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  # In --format=json, the equals sign is a word of its own.
  if [[ $cur == "=" ]]; then cur=""; elif [[ $prev == "=" ]]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$level \${COMP_WORDS[i]}" in
    ${doubleQuoted(commandPairs(levels))}) level="\${level:+$level }\${COMP_WORDS[i]}" ;;
    ${doubleQuoted(valuePairs(levels))})
      if [[ "\${COMP_WORDS[i+1]}" == "=" ]]; then i=$((i + 1)); fi
      i=$((i + 1)) ;;
    esac
  done
  case "$level $prev" in
${values.join('\n')}
  esac
  case "$level" in
${suggestions.join('\n')}
  esac
}
complete -F _sync_card sync-card`
}

const zshScript = (levels: readonly Level[]): string => {
  const described = (words: readonly Word[]): string =>
    words.map(({ name, description }) => shellQuote(`${name.replaceAll(':', '\\:')}:${description}`)).join(' ')
  const alternatives = (pairs: readonly string[]): string => `(${pairs.map(pair => `"${pair}"`).join('|')})`
  const values = valueActions(
    levels,
    ({ kind, words }) =>
      ({
        words: `compadd -- ${words.join(' ')}; return`,
        files: '_files; return',
        folders: '_files -/; return',
        unknown: 'return',
      })[kind],
  ).map(({ pairs, action }) => `    ${alternatives(pairs)} ${action} ;;`)
  const suggestions = levels.map(({ path, commands, flags, choices, takesFiles }) => {
    const options = flags.flatMap(({ names, description }) => names.map(name => ({ name, description })))
    return `    ("${path}")
      commands=(${described(commands)})
      choices=(${choices.join(' ')})
      options=(${described(options)})
      takes_files=${takesFiles ? 1 : 0} ;;`
  })
  return `#compdef sync-card
# Completion of sync-card for zsh. In ~/.zshrc, after compinit: eval "$(sync-card completion zsh)"
_sync_card() {
  local level=""
  local -i i takes_files=0
  local -a commands choices options
  for ((i = 2; i < CURRENT; i++)); do
    case "$level \${words[i]}" in
    ${alternatives(commandPairs(levels))} level="\${level:+$level }\${words[i]}" ;;
    ${alternatives(valuePairs(levels))} i=$((i + 1)) ;;
    esac
  done
  case "$level \${words[CURRENT-1]}" in
${values.join('\n')}
  esac
  case "$level" in
${suggestions.join('\n')}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe -o option options
    return
  fi
  (( $#commands )) && _describe command commands
  (( $#choices )) && compadd -- $choices
  (( takes_files )) && _files
  return 0
}
if [[ "$funcstack[1]" == "_sync_card" ]]; then _sync_card "$@"; else compdef _sync_card sync-card; fi`
}

const fishScript = (levels: readonly Level[]): string => {
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const rules = levels.flatMap(({ path, commands, flags, choices, takesFiles }) => {
    const at = `complete -c sync-card -n ${quote(`__sync_card_at ${quote(path)}`)}`
    return [
      ...commands.map(({ name, description }) => `${at} -a ${name} -d ${quote(description)}`),
      ...choices.map(choice => `${at} -a ${quote(choice)}`),
      ...(takesFiles ? [`${at} -F`] : []),
      ...flags.map(({ names, description, values }) => {
        const named = names
          .map(name => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
          .join(' ')
        return `${at} ${named} -d ${quote(description)}${fishValues(values)}`
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
            case ${commandPairs(levels).map(quote).join(' ')}
                set level (string trim "$level $word")
            case ${valuePairs(levels).map(quote).join(' ')}
                set is_value yes
        end
    end
    test "$level" = "$argv[1]"
end
complete -c sync-card -f
${rules.join('\n')}`
}

const fishValues = (values: Values | undefined): string => {
  if (values === undefined) return ''
  const { kind, words, optional } = values
  if (kind === 'files') return ' -r -F'
  if (kind === 'folders') return " -x -a '(__fish_complete_directories (commandline -ct))'"
  return kind === 'words' ? ` -x -a '${words.join(' ')}'` : optional ? '' : ' -x'
}

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript }
