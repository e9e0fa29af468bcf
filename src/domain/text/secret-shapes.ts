/** Shapes that only secrets have. Each is bounded where it could otherwise begin anew at every sign: what they read may be megabytes of an agent's choice. */
export const SECRET_SHAPES: readonly (readonly [name: string, shape: RegExp])[] = [
  ['private key', /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g],
  ['api key', /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g],
  ['api key', /\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}/g],
  ['api key', /\bAIza[A-Za-z0-9_-]{30,}/g],
  ['api key', /\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}|\bwhsec_[A-Za-z0-9+/=]{20,}|\bSK[0-9a-f]{32}\b|\bkey-[0-9a-f]{32}\b/g],
  ['access key', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g],
  ['token', /\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}|\bx(?:ox[abeoprs]|app)-[A-Za-z0-9-]{10,}/g],
  ['token', /\bnpm_[A-Za-z0-9]{30,}|\bhf_[A-Za-z0-9]{30,}|\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}\b|\bdop_v1_[a-f0-9]{64}\b|\bya29\.[A-Za-z0-9_-]{20,}/g],
  ['token', /\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]*/g],
];

/** After a word that says what follows: the word, then the secret. */
export const LABELLED_SECRET =
  /\b(bearer\s+|(?:api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|password|passwd)\\{0,8}["']?\s*[:=]\s*\\{0,8}["']?)([^\s"',;}{]{6,})/gi;

/** The password of a URL: what stands before it, itself, the sign after it. */
export const SECRET_IN_URL = /\b([a-z][a-z0-9+.-]{0,20}:\/\/[^\s:/@]{0,200}:)([^\s@/]{1,500})(@)/gi;

/** Keys of an object whose values are secrets, whatever they look like. */
export const SECRET_KEY = /^(?:api[_-]?key|access[_-]?token|auth[_-]?token|authorization|client[_-]?secret|password|passwd|secret)$/i;

/** A mail address: its domain, with the sign before it, is the first group. */
export const MAIL_ADDRESS = /[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}(@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,10})/g;
