import { context, propagation } from '@opentelemetry/api';

/** Headers by which a request becomes part of the trial's trace (`traceparent`); none where no trace is made. */
export function traceHeaders(): { readonly [header: string]: string } {
  const headers: { [header: string]: string } = {};
  propagation.inject(context.active(), headers);
  return headers;
}
