import { registerHooks } from 'node:module';

/**
 * Lets a pack or an agent that lies outside of any installation import `trialbed/environment` and `zod`: where its own folders have no such package,
 * it gets ours. A nearer copy always comes first. Idempotent; call it before a file of a user is imported.
 */
export function provideOwnModules(): void {
  if (provided) return;
  provided = true;
  registerHooks({
    resolve(specifier, context, next) {
      if (!OURS.has(specifier)) return next(specifier, context);
      try {
        const nearest = next(specifier, context);
        // In a checkout that was not built, the package's own name leads to files that are not there yet.
        if (specifier !== ENVIRONMENT || !nearest.url.startsWith(new URL('../../dist/', import.meta.url).href)) return nearest;
      } catch (error) {
        const code = (error as { code?: unknown }).code;
        if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw error;
      }
      if (specifier === ENVIRONMENT) return { url: ownEnvironment(), shortCircuit: true };
      return next(specifier, { ...context, parentURL: import.meta.url });
    },
  });
}

const ENVIRONMENT = 'trialbed/environment';
const OURS: ReadonlySet<string> = new Set([ENVIRONMENT, 'zod']);

let provided = false;

/** `define.ts` beside this file, or the `.js` that it was built to. */
function ownEnvironment(): string {
  return new URL(import.meta.url.endsWith('.ts') ? './define.ts' : './define.js', import.meta.url).href;
}
