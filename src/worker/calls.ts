import { type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type NextCall = Parameters<Interceptor>[1];
type Call = ReturnType<NextCall>;
type Status = Parameters<NonNullable<NonNullable<Parameters<Call['start']>[1]>['onReceiveStatus']>>[0];

const CANCELLED = 1;
const CLOSED = 'the connection to Temporal is closed';

/**
 * The calls of one connection, so that it can be closed while some are under way. The client repeats a failed call from a timer, and where the channel was closed
 * meanwhile gRPC throws in that timer, which nobody can catch; a long poll that is under way keeps its socket, and so the process, for up to a minute.
 */
export class Calls {
  private readonly open = new Set<Call>();
  private closed = false;

  /** For a connection's options, in place of the client's own: repeats calls as the client does. */
  readonly interceptor: Interceptor = (options, next) => this.retry(options, (again) => this.attempt(again, next));

  private readonly retry = makeGrpcRetryInterceptor(defaultGrpcRetryOptions());

  /** Ends every call that is under way, and from now on every new one and every repetition, as cancelled. Call it before the connection is closed. */
  close(): void {
    this.closed = true;
    for (const call of this.open) call.cancelWithStatus(CANCELLED, CLOSED);
  }

  private attempt(options: Parameters<NextCall>[0], next: NextCall): Call {
    if (this.closed) return endedCall();
    const call = next(options);
    return {
      start: (metadata, listener) => {
        this.open.add(call);
        call.start(metadata, {
          onReceiveMetadata: (received) => listener?.onReceiveMetadata?.(received),
          onReceiveMessage: (message) => listener?.onReceiveMessage?.(message),
          onReceiveStatus: (status) => {
            this.open.delete(call);
            listener?.onReceiveStatus?.(status);
          },
        });
      },
      cancelWithStatus: (code, details) => call.cancelWithStatus(code, details),
      getPeer: () => call.getPeer(),
      sendMessageWithContext: (context, message) => call.sendMessageWithContext(context, message),
      sendMessage: (message) => call.sendMessage(message),
      startRead: () => call.startRead(),
      halfClose: () => call.halfClose(),
      getAuthContext: () => call.getAuthContext(),
    };
  }
}

/** A call that ends as cancelled as soon as it is started, without a channel. */
function endedCall(): Call {
  const nothing = (): void => undefined;
  return {
    start: (metadata, listener) => {
      const status: Status = { code: CANCELLED, details: CLOSED, metadata };
      // As gRPC does it: not before whoever starts the call has it in hand.
      queueMicrotask(() => {
        // A unary call that ends without a reply receives this before its status.
        listener?.onReceiveMessage?.(null);
        listener?.onReceiveStatus?.(status);
      });
    },
    cancelWithStatus: nothing,
    getPeer: () => 'closed',
    sendMessageWithContext: nothing,
    sendMessage: nothing,
    startRead: nothing,
    halfClose: nothing,
    getAuthContext: () => null,
  };
}
