import { readFileSync } from 'node:fs';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, stepCountIs, tool } from 'ai';

const { TRIALBED_GATEWAY: gateway, TRIALBED_TOKEN: token, TRIALBED_MODEL_OPENAI: baseURL } = process.env;
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
  stopWhen: stepCountIs(3),
  maxOutputTokens: 64,
  maxRetries: 0,
});
process.stdout.write(text === '' ? 'I have no answer.' : text);
