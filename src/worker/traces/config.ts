import { z } from 'zod';

/** Where traces go. Read from the variables that OpenTelemetry gives these names. */
export interface TracesConfig {
  /** Of an OTLP receiver over HTTP, with its path. May hold a secret. */
  readonly url: string;
  /** Sent with each export; secrets. */
  readonly headers: { readonly [name: string]: string };
  /** Share of attempts that are traced, from 0 to 1; the same ones on every worker. */
  readonly share: number;
  /** `service.name` of the spans. */
  readonly service: string;
}

const text = z.string().optional();

/** The variables that decide about traces, each as OpenTelemetry defines it. Other programs read them too, so they are looked at only where traces are to be sent. */
export const traceVariables = z.object({
  OTEL_EXPORTER_OTLP_ENDPOINT: text,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: text,
  OTEL_EXPORTER_OTLP_HEADERS: text,
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: text,
  OTEL_EXPORTER_OTLP_PROTOCOL: text,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: text,
  OTEL_TRACES_EXPORTER: text,
  OTEL_SDK_DISABLED: text,
  OTEL_TRACES_SAMPLER_ARG: text,
  OTEL_SERVICE_NAME: text,
});

type TraceVariables = z.infer<typeof traceVariables>;

const SHARE = 'a share from 0 to 1';
const forms = {
  url: z.url({ protocol: /^https?$/, error: 'a URL such as http://127.0.0.1:4318' }),
  headers: z.string().regex(/^[^=,]+=[^,]*(,[^=,]+=[^,]*)*$/, 'names and values such as authorization=Bearer%20abc,x-team=eval'),
  protocol: z.enum(['http/protobuf'], 'http/protobuf, the only one in which traces are sent; OTEL_TRACES_EXPORTER=none turns them off'),
  share: z.coerce.number(SHARE).min(0, SHARE).max(1, SHARE),
};

/** Null: no trace is made. `problem` hears, in a line, of each variable that cannot be used. */
export function tracesConfig(vars: TraceVariables, problem: (line: string) => void): TracesConfig | null {
  const at = set(vars, 'ENDPOINT');
  if (at === null || vars.OTEL_TRACES_EXPORTER === 'none' || vars.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return null;
  const read = <T>(form: z.ZodType<T>, name: keyof TraceVariables, fallback: T): T => {
    const value = vars[name];
    if (value === undefined) return fallback;
    const parsed = form.safeParse(value);
    if (parsed.success) return parsed.data;
    problem(`${name}: expected ${parsed.error.issues[0]?.message}`);
    return fallback;
  };
  const url = read(forms.url, at, '');
  const headers = set(vars, 'HEADERS');
  const protocol = set(vars, 'PROTOCOL');
  if (protocol !== null) read(forms.protocol, protocol, 'http/protobuf');
  return {
    // The general one is a base, that of traces is the whole address.
    url: at === 'OTEL_EXPORTER_OTLP_ENDPOINT' ? `${url.replace(/\/+$/, '')}/v1/traces` : url,
    headers: headers === null ? {} : pairs(read(forms.headers, headers, '')),
    share: read(forms.share, 'OTEL_TRACES_SAMPLER_ARG', 1),
    service: vars.OTEL_SERVICE_NAME ?? 'trialbed',
  };
}

/** The variable for traces where it is set, else the general one; null where neither is. */
function set<Name extends 'ENDPOINT' | 'HEADERS' | 'PROTOCOL'>(vars: TraceVariables, name: Name): keyof TraceVariables | null {
  const names = [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`] as const;
  return names.find((one) => vars[one] !== undefined) ?? null;
}

function pairs(list: string): { readonly [name: string]: string } {
  const parts = list.split(',').filter((pair) => pair !== '');
  return Object.fromEntries(parts.map((pair) => [pair.slice(0, pair.indexOf('=')).trim(), decoded(pair.slice(pair.indexOf('=') + 1).trim())]));
}

/** Values are percent-encoded by definition, and often are not in fact. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
