import { readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import type * as TypeScript from 'typescript';

/** For `--import`: plain Node runs the sources and strips their types, and pages are written in JSX, which is no type. The compiler is read with the first of them. */
const require = createRequire(import.meta.url);

registerHooks({
  load(url, context, next) {
    if (!url.endsWith('.tsx')) return next(url, context);
    const { transpileModule, JsxEmit, ModuleKind, ScriptTarget } = require('typescript') as typeof TypeScript;
    const fileName = fileURLToPath(url);
    const compilerOptions = {
      module: ModuleKind.ESNext,
      target: ScriptTarget.ESNext,
      jsx: JsxEmit.ReactJSX,
      jsxImportSource: 'hono/jsx',
      verbatimModuleSyntax: true,
    };
    const { outputText } = transpileModule(readFileSync(fileName, 'utf8'), { fileName, compilerOptions });
    return { format: 'module', source: outputText, shortCircuit: true };
  },
});
