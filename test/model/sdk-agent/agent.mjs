import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { TRIALBED_GATEWAY: gateway, TRIALBED_TOKEN: token, TRIALBED_MODEL_OPENAI: baseURL, TRIALBED_TEST_PACKAGES: packages } = process.env;
const load = (name) => import(pathToFileURL(join(packages, name, 'dist/index.js')).href);
const { generateText, isStepCount, jsonSchema, stepCountIs, tool } = await load('ai');
const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible');

const headers = { authorization: `Bearer ${token}` };
const request = JSON.parse(readFileSync(0, 'utf8'));
const { tools: offered } = await (await fetch(`${gateway}/tools`, { headers })).json();
const call = (name) => async (args) => (await fetch(`${gateway}/tools/${name}`, { method: 'POST', headers, body: JSON.stringify(args) })).json();
const tools = Object.fromEntries(
  offered.map(({ name, description, inputSchema }) => [name, tool({ description, inputSchema: jsonSchema(inputSchema), execute: call(name) })]),
);
const provider = createOpenAICompatible({ name: 'gateway', baseURL, apiKey: token });
const { text } = await generateText({
  model: provider('smollm2'),
  system: request.instructions,
  prompt: request.text,
  tools,
  stopWhen: (isStepCount ?? stepCountIs)(3),
  maxOutputTokens: 64,
  maxRetries: 0,
});
process.stdout.write(text === '' ? 'I have no answer.' : text);
