import { ConsoleAddressError } from './console-errors.ts';

/** An address by which browsers reach the console; null: none was given. @throws {ConsoleAddressError} */
export function publicUrl(text: string | undefined): URL | null {
  if (text === undefined) return null;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || (url.pathname !== '/' && url.pathname !== ''))
    throw new ConsoleAddressError(`the address of the console has to be one such as https://trialbed.example.com, without a path, and not ${text}`);
  return url;
}
