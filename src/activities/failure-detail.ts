import { printable } from '../domain/text/bounded.ts';
import { withoutSecrets as withoutForms } from '../domain/text/secrets.ts';
import { ToolFailure } from '../environments/define.ts';

/** Longest detail, in UTF-16 units: it lies in the ledger and in the record, and what a database quotes has no bounds. */
const MAX_DETAIL_LENGTH = 2_000;
/** Errors that are followed from one to its cause. */
const MAX_CAUSES = 5;
/** Shorter texts are no secrets, and taking them out would make a sentence unreadable. */
const MIN_SECRET_LENGTH = 8;

/**
 * Why a tool failed, in the words of whoever refused: the database's message with SQLSTATE, table and constraint, a server's reply, the error that was thrown. Without
 * stacks. For operators: the agent is told only what the tool declares. Null where there is no more to say than the problem that the agent is told.
 *
 * @param secrets texts that are taken out wherever they occur, and with them every password in a URL.
 */
export function failureDetail(error: unknown, secrets: readonly string[]): string | null {
  const parts: string[] = [];
  let current: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES && current !== undefined && current !== null; depth++) {
    if (!(current instanceof ToolFailure)) parts.push(wordsOf(current));
    current = current instanceof Error ? current.cause : undefined;
  }
  const text = [...new Set(parts.filter((part) => part !== ''))].join('; caused by ');
  return text === '' ? null : printable(withoutSecrets(text, secrets), MAX_DETAIL_LENGTH);
}

/** Fields that PostgreSQL's protocol gives beside the message. */
const FIELDS = ['schema', 'table', 'column', 'dataType', 'constraint'] as const;
const SENTENCES = ['detail', 'hint', 'where'] as const;

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const fields = error as Error & { readonly [field: string]: unknown };
  const text = (field: string): string | null => (typeof fields[field] === 'string' && fields[field] !== '' ? fields[field] : null);
  const code = text('code');
  const isState = code !== null && /^[0-9A-Z]{5}$/.test(code) && text('severity') !== null;
  const facts = isState
    ? [`SQLSTATE ${code}`, ...FIELDS.flatMap((field) => (text(field) === null ? [] : [`${field} ${text(field)}`]))]
    : code === null
      ? []
      : [code];
  const name = isState || error.name === 'Error' || error.message.startsWith(error.name) ? '' : `${error.name}: `;
  const sentences = isState ? SENTENCES.flatMap((field) => text(field) ?? []) : [];
  const reply = text('response');
  const extra = [...sentences, ...(reply === null || error.message.includes(reply) ? [] : [reply])];
  return `${name}${error.message}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}${extra.map((sentence) => `; ${sentence}`).join('')}`.trim();
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  const known = secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH).sort((a, b) => b.length - a.length);
  const plain = known.reduce((rest, secret) => rest.replaceAll(secret, '[secret]').replaceAll(encodeURIComponent(secret), '[secret]'), text);
  return withoutForms(plain);
}
