/**
 * JSON in the spelling of the original: `, ` and `: ` between the parts, order of members and digits as they are. `source` must be well-formed JSON.
 */
export function respaced(source: string): string {
  const tokens = source.match(/"(?:[^"\\]|\\.)*"|[^\s"{}[\],:]+|[{}[\],:]/g) ?? [];
  return tokens.map((token) => (token === ',' || token === ':' ? `${token} ` : token)).join('');
}

/** One object of members whose values are JSON text; those that are null are left out. */
export function objectText(members: { readonly [name: string]: string | null }): string {
  const present = Object.entries(members).flatMap(([name, value]) => (value === null ? [] : [`${JSON.stringify(name)}: ${respaced(value)}`]));
  return `{${present.join(', ')}}`;
}
