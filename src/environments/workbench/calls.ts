/**
 * Reads the call strings and lists in which WorkBench writes solutions: `email.delete_email.func(email_id="00000479")`. Text of an agent or a file is taken
 * apart by the scanner below, and never evaluated.
 */
export type ParsedCall =
  | { readonly ok: true; readonly tool: string; readonly args: { readonly [name: string]: string } }
  | {
      readonly ok: false;
      readonly problem: string;
      /** Of a call that can be read and whose name has another form. */
      readonly name?: string;
    };

/**
 * Reads one call: `<toolkit>.<tool>.func(<name>="<value>", ...)`. Values are string literals of Python; a real line break inside one counts as `\n`.
 * Whether the tool and its arguments exist is not looked at.
 */
export function parseCall(source: string): ParsedCall {
  const scanner = new Scanner(source.replaceAll('\r\n', '\n').replaceAll('\n', '\\n'));
  try {
    return readCall(scanner);
  } catch (error) {
    if (error instanceof ScanError) return { ok: false, problem: error.message };
    throw error;
  }
}

/**
 * Reads a list of strings in Python notation, such as `['a', "it's"]`.
 * @throws {ScanError} naming the position, when it is something else.
 */
export function parseList(source: string): readonly string[] {
  const scanner = new Scanner(source);
  const items: string[] = [];
  scanner.expect('[');
  while (!scanner.take(']')) {
    items.push(scanner.strings());
    if (!scanner.take(',')) {
      scanner.expect(']');
      break;
    }
  }
  scanner.end();
  return items;
}

/** The text is not in the notation. */
export class ScanError extends Error {
  override readonly name = 'ScanError';
  readonly code = 'scan';
  /** From 0. */
  readonly position: number;

  constructor(position: number, expected: string) {
    super(`expected ${expected} at character ${position + 1}`);
    this.position = position;
  }
}

/** Words that cannot be argument names. */
const RESERVED = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass ' +
    'raise return try while with yield'
  ).split(' '),
);

const QUOTES = new Set(['"', "'"]);

const ESCAPES: { readonly [letter: string]: string } = { n: '\n', t: '\t', r: '\r', '\\': '\\', '"': '"', "'": "'" };

function readCall(scanner: Scanner): ParsedCall {
  const name = [scanner.word()];
  while (scanner.take('.')) name.push(scanner.word());
  scanner.expect('(');
  const args = new Map<string, string>();
  while (!scanner.take(')')) {
    const at = scanner.position;
    const argument = scanner.word();
    if (RESERVED.has(argument)) throw new ScanError(at, `an argument name instead of the reserved word "${argument}"`);
    if (args.has(argument)) throw new ScanError(at, `no second "${argument}"`);
    scanner.expect('=');
    args.set(argument, scanner.strings());
    if (!scanner.take(',')) {
      scanner.expect(')');
      break;
    }
  }
  scanner.end();
  const [toolkit, tool, func] = name;
  if (name.length !== 3 || func !== 'func') return { ok: false, problem: `"${name.join('.')}" is not of the form toolkit.tool.func`, name: name.join('.') };
  return { ok: true, tool: `${toolkit}.${tool}`, args: Object.fromEntries(args) };
}

/** Steps over the tokens of the notation. White space between them does not matter. */
class Scanner {
  position = 0;
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  take(char: string): boolean {
    this.#space();
    if (this.#source.charAt(this.position) !== char) return false;
    this.position += 1;
    return true;
  }

  expect(char: string): void {
    if (!this.take(char)) throw new ScanError(this.position, `"${char}"`);
  }

  end(): void {
    this.#space();
    if (this.position < this.#source.length) throw new ScanError(this.position, 'the end');
  }

  word(): string {
    this.#space();
    const name = /[A-Za-z_]\w*/y;
    name.lastIndex = this.position;
    const [found] = name.exec(this.#source) ?? [];
    if (found === undefined) throw new ScanError(this.position, 'a name');
    this.position += found.length;
    return found;
  }

  /** One string literal, or several in a row, which join. */
  strings(): string {
    let text = '';
    do {
      text += this.#string();
      this.#space();
    } while (QUOTES.has(this.#source.charAt(this.position)));
    return text;
  }

  #string(): string {
    this.#space();
    const quote = this.#source.charAt(this.position);
    if (!QUOTES.has(quote)) throw new ScanError(this.position, 'a string in quotes');
    let text = '';
    for (this.position += 1; this.position < this.#source.length; this.position += 1) {
      const char = this.#source.charAt(this.position);
      if (char === quote) {
        this.position += 1;
        return text;
      }
      if (char === '\\') {
        this.position += 1;
        const letter = this.#source.charAt(this.position);
        // An unknown escape keeps its backslash.
        text += ESCAPES[letter] ?? `\\${letter}`;
      } else text += char;
    }
    throw new ScanError(this.position, `${quote} at the end of the string`);
  }

  #space(): void {
    while (/\s/.test(this.#source.charAt(this.position))) this.position += 1;
  }
}
