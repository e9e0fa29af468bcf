/** A text without what is a secret by its form: the password in a URL, and what follows `Bearer` or `Basic`. */
export function withoutSecrets(text: string): string {
  return text.replace(/\b([a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s@/]+@/giu, '$1:[secret]@').replace(/\b(bearer|basic)\s+[\w.~+/=-]{8,}/giu, '$1 [secret]');
}
