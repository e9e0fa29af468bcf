import { pathToFileURL } from 'node:url';
import type { JsonObject } from '../../src/domain/json.ts';
import { type Provider, type ProviderAnswer, type ProviderRequest, startProvider } from '../harness/provider.ts';
import { fetchModel } from './fetch.ts';
import { type OfferedTool, replySchema } from './grammar.ts';

/** What the test uses of node-llama-cpp, which is no dependency of the project. */
interface LlamaModule {
  getLlama(options: object): Promise<{
    loadModel(options: object): Promise<{
      tokenize(text: string, specialTokens: boolean): readonly number[];
      createContext(options: object): Promise<{ getSequence(): { readonly tokenMeter: { getState(): { readonly usedOutputTokens: number } } } }>;
      dispose(): Promise<void>;
    }>;
    createGrammarForJsonSchema(schema: JsonObject): Promise<object>;
    dispose(): Promise<void>;
  }>;
  readonly LlamaCompletion: new (options: object) => { generateCompletion(prompt: readonly number[], options: object): Promise<string> };
}

/** A model of this size has little room: so much is read of the system message, and of each of the last messages, in characters. */
const SYSTEM_LENGTH = 500;
const MESSAGE_LENGTH = 200;
const MESSAGES = 6;
const MAX_TOKENS = 64;

/**
 * A small language model behind an endpoint in OpenAI's format. It has no format for tools of its own, so each reply is held to a grammar that is made of the tools'
 * schemas; what it writes within that is its own, sampled noise included. One request after the other.
 */
export async function startSmallModel(): Promise<Provider> {
  const { weights, llama: module } = await fetchModel();
  const { getLlama, LlamaCompletion } = (await import(pathToFileURL(module).href)) as LlamaModule;
  const llama = await getLlama({ gpu: false, build: 'never', skipDownload: true, logLevel: 'error' });
  const model = await llama.loadModel({ modelPath: weights, gpuLayers: 0 });
  // One thread: on a busy machine several wait for each other at every step.
  const context = await model.createContext({ contextSize: 2048, threads: 1 });
  const sequence = context.getSequence();
  const completion = new LlamaCompletion({ contextSequence: sequence });

  const reply = async ({ body }: ProviderRequest): Promise<ProviderAnswer> => {
    const tools: readonly OfferedTool[] = body.tools ?? [];
    const grammar = await llama.createGrammarForJsonSchema(replySchema(tools));
    const prompt = model.tokenize(promptOf(body.messages, tools), true);
    const before = sequence.tokenMeter.getState().usedOutputTokens;
    const sampling = {
      temperature: Number(body['temperature'] ?? 0.8),
      ...(typeof body['seed'] === 'number' && { seed: body['seed'] + body.messages.length }),
    };
    const text = await completion.generateCompletion(prompt, {
      grammar,
      maxTokens: Math.min(MAX_TOKENS, Number(body['max_tokens'] ?? MAX_TOKENS)),
      ...sampling,
    });
    const usage = { prompt_tokens: prompt.length, completion_tokens: sequence.tokenMeter.getState().usedOutputTokens - before };
    const choice = { index: 0, message: { role: 'assistant', ...messageOf(text) }, finish_reason: text.includes('"call"') ? 'tool_calls' : 'stop' };
    return { json: { id: 'small', object: 'chat.completion', created: 0, model: 'smollm2-135m-instruct-q4_1', choices: [choice], usage } };
  };

  let before: Promise<unknown> = Promise.resolve();
  const provider = await startProvider((request) => {
    const answer = before.then(() => reply(request));
    before = answer.catch(() => {});
    return answer;
  });
  return {
    ...provider,
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]();
      await before;
      await model.dispose();
      await llama.dispose();
    },
  };
}

function promptOf(messages: ProviderRequest['body']['messages'], tools: readonly OfferedTool[]): string {
  const [system, ...rest] = messages;
  const names = tools.map((tool) => tool.function.name).join(', ');
  const first = turn(
    'system',
    `${String(system?.content ?? '').slice(0, SYSTEM_LENGTH)}\nTools: ${names}. Answer with JSON: a call of a tool, or what you say.`,
  );
  return `${[first, ...rest.slice(-MESSAGES).map((message) => turn(message.role === 'assistant' ? 'assistant' : 'user', contentOf(message)))].join('')}<|im_start|>assistant\n`;
}

function contentOf({ content, tool_calls: calls }: ProviderRequest['body']['messages'][number]): string {
  return (typeof content === 'string' && content !== '' ? content : JSON.stringify(calls ?? '')).slice(0, MESSAGE_LENGTH);
}

function turn(role: string, text: string): string {
  return `<|im_start|>${role}\n${text.replaceAll('<|', '< |')}<|im_end|>\n`;
}

/** A reply that was cut at its limit is passed on as it is: a call whose arguments are no JSON. */
function messageOf(text: string): JsonObject {
  const [, name] = /"call"\s*:\s*"([^"]*)"/.exec(text) ?? [];
  const [, said] = /"say"\s*:\s*"((?:[^"\\]|\\.)*)/.exec(text) ?? [];
  if (name === undefined) return { content: said ?? text };
  const args = /"args"\s*:\s*([\s\S]*?)\}?\s*$/.exec(text)?.[1] ?? '';
  return { content: null, tool_calls: [{ id: `call_${name}`, type: 'function', function: { name, arguments: args } }] };
}
