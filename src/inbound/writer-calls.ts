// What receive threads call in the first thread: one table of the calls, and both of their ends.

import { Moved, type ThreadLink } from '../base/thread-link.ts'
import type { Chunk } from '../mime/message.ts'
import type { ConnectionOwner } from './connections.ts'
import { forWriter, withoutContent } from './received-message.ts'
import type { SharedChange } from './shared-state.ts'
import type { InboundWriter } from './writer.ts'

/** What a receiver asks of the first thread. What is written is durable when the promise resolves. */
export type ReceiveWriter = Pick<
  InboundWriter,
  | 'deliver'
  | 'applyReport'
  | 'applyDeliveredReport'
  | 'noteRefusedRecipient'
  | 'noteRefusedMessage'
  | 'noteDropped'
  | 'noteLineError'
  | 'fullSince'
  | 'admitByPattern'
  | 'reserve'
  | 'release'
  | 'inspect'
>

/** All that a receive thread calls in the first thread. */
export type FirstThreadCalls = ReceiveWriter &
  Pick<ConnectionOwner, 'admit' | 'closed'> & { share(change: SharedChange): void }

/** How a call gets to the other thread: as it is where nothing is said. */
interface CallForm<F extends (...given: never[]) => unknown> {
  /** The arguments without what the first thread does not need. */
  sends?(...given: Parameters<F>): Parameters<F>
  /** Buffers of the arguments that are handed over instead of copied. */
  moves?(...given: Parameters<F>): ArrayBufferLike[]
  /** The same of the answer. */
  movesBack?(answer: Awaited<ReturnType<F>>): ArrayBufferLike[]
  /** The caller waits for no answer. */
  isPosted?: boolean
}

const CALLS: { readonly [N in keyof ReceiveWriter]: CallForm<ReceiveWriter[N]> } = {
  deliver: {
    sends: (message) => [forWriter(message)],
    moves: ({ inspection }) => buffersOf(inspection.chunks),
  },
  applyReport: { sends: (message) => [withoutContent(message)] },
  applyDeliveredReport: { sends: (message) => [withoutContent(message)] },
  noteRefusedRecipient: {},
  noteRefusedMessage: { sends: (message, refusal) => [withoutContent(message), refusal] },
  noteDropped: { sends: (message, refusal) => [withoutContent(message), refusal] },
  noteLineError: { isPosted: true },
  fullSince: {},
  admitByPattern: {},
  reserve: {},
  release: { isPosted: true },
  inspect: { movesBack: ({ chunks }) => buffersOf(chunks) },
}

type AnyFunction = (...given: unknown[]) => unknown
type AnyForm = CallForm<AnyFunction>

/** In a receive thread: the writer, each of whose methods calls the first thread. */
export function remoteWriter(link: ThreadLink<FirstThreadCalls>): ReceiveWriter {
  const far = link as unknown as ThreadLink<Record<string, AnyFunction>>
  return fromTable((name, { sends, moves, isPosted }) => (...given) => {
    const sent = sends ? sends(...given) : given
    return isPosted ? far.post(name, sent) : far.call(name, sent, moves?.(...given))
  }) as unknown as ReceiveWriter
}

/** In the first thread: what answers the calls of the receive threads. */
export function writerCalls(writer: ReceiveWriter): ReceiveWriter {
  const methods = writer as unknown as Record<string, AnyFunction>
  return fromTable((name, { movesBack }) => async (...given) => {
    const answer = await methods[name]!(...given)
    return movesBack ? new Moved(answer, movesBack(answer)) : answer
  }) as unknown as ReceiveWriter
}

function fromTable(functionOf: (name: string, form: AnyForm) => AnyFunction): Record<string, AnyFunction> {
  return Object.fromEntries(Object.entries(CALLS).map(([name, form]) => [name, functionOf(name, form as AnyForm)]))
}

function buffersOf(chunks: readonly Chunk[]): ArrayBufferLike[] {
  return chunks.map(({ data }) => data.buffer)
}
