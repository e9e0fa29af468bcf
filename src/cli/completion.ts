import type { Command } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** What a completion script needs to know of a command. */
export interface CommandShape {
  /** As it is typed, without the program's name: `run`, `import workbench`; empty for the program itself. */
  readonly path: string;
  readonly summary: string;
  readonly options: readonly OptionShape[];
  /** Values of the first argument where they are known: subcommands, choices. */
  readonly words: readonly { readonly word: string; readonly summary: string }[];
}

interface OptionShape {
  /** With dashes. */
  readonly long: string;
  readonly summary: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

/** The tree of commands as a list, the program first. */
export function describeProgram(program: Command): readonly CommandShape[] {
  const visit = (command: Command, path: readonly string[]): CommandShape[] => {
    const subcommands = command.commands;
    const choices = command.registeredArguments[0]?.argChoices ?? [];
    const shape: CommandShape = {
      path: path.join(' '),
      summary: command.summary() || command.description(),
      options: [...command.options.filter((option) => !option.hidden && option.long), HELP].map((option) => ({
        long: option.long ?? '',
        summary: option.description,
        takesValue: option.required || option.optional,
        choices: option.argChoices ?? SUGGESTED[option.long ?? ''] ?? [],
      })),
      words: [
        ...subcommands.map((sub) => ({ word: sub.name(), summary: sub.summary() || sub.description() })),
        ...choices.map((word) => ({ word, summary: '' })),
      ],
    };
    return [shape, ...subcommands.flatMap((sub) => visit(sub, [...path, sub.name()]))];
  };
  return visit(program, []);
}

/** A script for a shell. It needs nothing but the shell: no completion runs the program. */
export function completionScript(shell: Shell, commands: readonly CommandShape[]): string {
  if (shell === 'bash') return bash(commands);
  return shell === 'zsh' ? zsh(commands) : fish(commands);
}

/** Values that can be said without reading a suite; others are taken as well. */
const SUGGESTED: { readonly [option: string]: readonly string[] } = { '--faults': ['none', 'all'] };

const HELP = { long: '--help', description: 'show help', required: false, optional: false, argChoices: [] as string[] };

function bash(commands: readonly CommandShape[]): string {
  const arms = commands.map(
    (c) =>
      `    ${quote(c.path)}) words=${quote([...c.words.map((w) => w.word), ...c.options.map((o) => o.long)].join(' '))}; values=${quote(valueOptions(c).join(' '))} ;;`,
  );
  const choices = commands.flatMap((c) =>
    c.options
      .filter((o) => o.choices.length > 0)
      .map((o) => `    ${quote(`${c.path} ${o.long}`)}) COMPREPLY=($(compgen -W ${quote(o.choices.join(' '))} -- "$cur")); return ;;`),
  );
  return `# bash completion for trialbed
_trialbed() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path='' words='' values='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${path:+$path }\${COMP_WORDS[i]}" in
${[...new Set(commands.filter((c) => c.path !== '').map((c) => `      ${quote(c.path)}) path=${quote(c.path)} ;;`))].join('\n')}
    esac
  done
  case "$path" in
${arms.join('\n')}
  esac
  case "$path $prev" in
${choices.join('\n')}
  esac
  COMPREPLY=()
  if [[ " $values " == *" $prev "* ]]; then
    COMPREPLY=($(compgen -f -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    [[ $cur == -* ]] || COMPREPLY+=($(compgen -f -- "$cur"))
  fi
}
complete -o filenames -F _trialbed trialbed
`;
}

function zsh(commands: readonly CommandShape[]): string {
  const specs = (c: CommandShape): string[] =>
    c.options.map((o) => {
      const value = o.takesValue ? `:value:${o.choices.length > 0 ? `(${o.choices.join(' ')})` : '_files'}` : '';
      return quote(`*${o.long}[${zshText(o.summary)}]${value}`);
    });
  const functions = commands.map((c) => {
    const words = c.words.map((w) => quote(`${w.word}:${zshText(w.summary)}`)).join(' ');
    const subcommands = commands.filter(
      (sub) =>
        sub.path !== '' &&
        sub.path.startsWith(c.path === '' ? '' : `${c.path} `) &&
        sub.path.split(' ').length === (c.path === '' ? 1 : c.path.split(' ').length + 1),
    );
    const name = functionName(c.path);
    if (subcommands.length === 0) {
      const first = words === '' ? `'*:file:_files'` : `'1:value:(${c.words.map((w) => w.word).join(' ')})'`;
      return `${name}() {\n  _arguments ${[...specs(c), first].join(' \\\n    ')}\n}`;
    }
    return `${name}() {
  local line state
  _arguments -C ${[...specs(c), `'1:command:->command'`, `'*::argument:->argument'`].join(' \\\n    ')}
  case $state in
    command) local -a commands=(${words}); _describe command commands ;;
    argument) case $line[1] in
${subcommands.map((sub) => `      ${sub.path.split(' ').at(-1)}) ${functionName(sub.path)} ;;`).join('\n')}
    esac ;;
  esac
}`;
  });
  return `#compdef trialbed\n${functions.join('\n')}\ncompdef _trialbed trialbed\n`;
}

function fish(commands: readonly CommandShape[]): string {
  const lines = commands.flatMap((c) => {
    const here =
      c.path === ''
        ? '__fish_use_subcommand'
        : c.path
            .split(' ')
            .map((word) => `__fish_seen_subcommand_from ${word}`)
            .join('; and ');
    return [
      ...c.words.map((w) => `complete -c trialbed -n ${quote(here)} -a ${quote(w.word)} -d ${quote(w.summary)}`),
      ...c.options.map((o) => {
        const value = o.choices.length > 0 ? ` -x -a ${quote(o.choices.join(' '))}` : o.takesValue ? ' -r' : '';
        return `complete -c trialbed -n ${quote(here)} -l ${o.long.slice(2)}${value} -d ${quote(o.summary)}`;
      }),
    ];
  });
  return `# fish completion for trialbed\n${lines.join('\n')}\n`;
}

function valueOptions(command: CommandShape): string[] {
  return command.options.filter((o) => o.takesValue).map((o) => o.long);
}

function functionName(path: string): string {
  return path === '' ? '_trialbed' : `_trialbed_${path.replaceAll(' ', '_')}`;
}

/** A word for any of the three shells. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Text inside an option's description of zsh, where brackets and colons mean something. */
function zshText(text: string): string {
  return text.replace(/[[\]:\\]/g, (character) => `\\${character}`);
}
