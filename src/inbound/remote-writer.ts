// The writer as a receive thread calls it: both ends of the calls, and all that receive threads call in the first thread.

import { Moved, type ThreadLink } from '../base/thread-link.ts'
import type { Chunk } from '../mime/message.ts'
import type { LineError } from '../smtp/command-reader.ts'
import type { EnvelopeSender } from '../smtp/envelope.ts'
import type { SmtpReply } from '../smtp/replies.ts'
import type { MessageSource } from '../workers/inspect-thread.ts'
import type { Inspection, InspectionRequest } from '../workers/inspection.ts'
import type { ReportMessage } from './bounces.ts'
import {
  type Decided,
  type ForWriter,
  forWriter,
  type Inspected,
  type LoggedMessage,
  withoutContent,
} from './received-message.ts'
import type { RejectedRecipient } from './recipients.ts'
import type { SmtpRefusal } from './refusals.ts'
import type { SharedChange } from './shared-state.ts'
import type { Peer } from './transaction.ts'
import type { ReceiveWriter, StoreOutcome } from './writer.ts'

/** What a receive thread calls in the first thread. */
export type FirstThreadCalls = ReturnType<typeof writerCalls> & {
  share(change: SharedChange): void
  /** See `ReceiveWriter.reserve`. @returns the number to release it by */
  reserve(sizeBytes: number, source: string): Promise<number | null>
  release(id: number): void
  /** See `ConnectionOwner`. */
  admit(id: number, address: string): Promise<SmtpReply | null>
  closed(id: number): void
}

/** In a receive thread: hands finished records to the first thread. */
export class RemoteWriter implements ReceiveWriter {
  readonly #link: ThreadLink<FirstThreadCalls>

  constructor(link: ThreadLink<FirstThreadCalls>) {
    this.#link = link
  }

  deliver(message: ForWriter<Decided>): Promise<StoreOutcome> {
    return this.#link.call('deliver', [forWriter(message)], buffersOf(message.inspection.chunks))
  }

  applyReport(message: ReportMessage): Promise<void> {
    return this.#link.call('applyReport', [withoutContent(message)])
  }

  applyDeliveredReport(message: ForWriter<Inspected>): Promise<void> {
    return this.#link.call('applyDeliveredReport', [withoutContent(message)])
  }

  async noteRefusedRecipient(rejected: RejectedRecipient, sender: EnvelopeSender, peer: Peer): Promise<void> {
    // Recipients at domains that are not hosted here have no log.
    if (rejected.teamId !== null) await this.#link.call('noteRefusedRecipient', [rejected, sender, peer])
  }

  noteRefusedMessage(message: LoggedMessage, refusal: SmtpRefusal): Promise<void> {
    return this.#link.call('noteRefusedMessage', [withoutContent(message), refusal])
  }

  noteDropped(message: LoggedMessage, refusal: SmtpRefusal): Promise<void> {
    return this.#link.call('noteDropped', [withoutContent(message), refusal])
  }

  noteLineError(error: LineError, peer: Peer): void {
    this.#link.post('noteLineError', [error, peer])
  }

  fullSince(mailboxId: string, quotaBytes: number, sizeBytes: number): Promise<number | null> {
    return this.#link.call('fullSince', [mailboxId, quotaBytes, sizeBytes])
  }

  async reserve(sizeBytes: number, source: string): Promise<(() => void) | null> {
    const id = await this.#link.call('reserve', [sizeBytes, source])
    return id === null ? null : () => this.#link.post('release', [id])
  }

  inspect(source: MessageSource, request: InspectionRequest): Promise<Inspection> {
    return this.#link.call('inspect', [source, request])
  }
}

/** In the first thread: the calls of a receive thread. */
export function writerCalls(writer: ReceiveWriter) {
  return {
    deliver: (message: ForWriter<Decided>) => writer.deliver(message),
    applyReport: (message: ReportMessage) => writer.applyReport(message),
    applyDeliveredReport: (message: ForWriter<Inspected>) => writer.applyDeliveredReport(message),
    noteRefusedRecipient: (rejected: RejectedRecipient, sender: EnvelopeSender, peer: Peer) =>
      writer.noteRefusedRecipient(rejected, sender, peer),
    noteRefusedMessage: (message: LoggedMessage, refusal: SmtpRefusal) => writer.noteRefusedMessage(message, refusal),
    noteDropped: (message: LoggedMessage, refusal: SmtpRefusal) => writer.noteDropped(message, refusal),
    noteLineError: (error: LineError, peer: Peer) => writer.noteLineError(error, peer),
    fullSince: (mailboxId: string, quotaBytes: number, sizeBytes: number) =>
      writer.fullSince(mailboxId, quotaBytes, sizeBytes),
    inspect: async (source: MessageSource, request: InspectionRequest) => {
      const inspection = await writer.inspect(source, request)
      return new Moved(inspection, buffersOf(inspection.chunks))
    },
  }
}

function buffersOf(chunks: readonly Chunk[]): ArrayBufferLike[] {
  return chunks.map(({ data }) => data.buffer)
}
