// Worker thread of inspector.ts. Each thread has one DNS client, whose cache serves all messages it inspects.

import { readFile } from 'node:fs/promises'
import { workerData } from 'node:worker_threads'
import { systemClock } from '../base/clock.ts'
import { freeBytes } from '../base/free-bytes.ts'
import { collectUnderPressure } from '../base/memory-pressure.ts'
import { openResolver } from '../base/resolver.ts'
import { transferred } from '../base/thread-pool.ts'
import { bytesOf } from '../mime/chunks.ts'
import type { Chunk } from '../mime/message.ts'
import { type DecodedBodies, type DecodedField, readBodies, readHeader } from '../mime/view.ts'
import { inspect } from './inspect.ts'
import type { Inspection, InspectionRequest, MessageReading } from './inspection.ts'
import { readMessage } from './read-message.ts'

/** The bytes of a message, or a file that the thread reads itself. */
export type MessageSource = { bytes: Uint8Array } | { file: string }

/** workerData of the thread. */
export interface ThreadSettings {
  dnsServers: string[]
}

const resolver = openResolver({ servers: (workerData as ThreadSettings).dnsServers, clock: systemClock })

collectUnderPressure()

/** Pool task: inspects an arriving message. */
export async function inspectTask(task: { source: MessageSource; arrival: InspectionRequest }): Promise<Inspection> {
  const bytes = 'file' in task.source ? await readFile(task.source.file) : task.source.bytes
  return moved(await inspect(bytes, task.arrival, resolver))
}

/** Pool task: reads a message that is imported or already stored. */
export function readTask({ bytes }: { bytes: Uint8Array }): MessageReading {
  const reading = readMessage(bytes)
  freeBytes([bytes], bytesOf(reading))
  return moved(reading)
}

/** Pool task: reads messages that follow each other in the bytes. */
export function readAllTask({ bytes, lengths }: { bytes: Uint8Array; lengths: readonly number[] }): MessageReading[] {
  let at = 0
  const readings = lengths.map((length) => {
    at += length
    return readMessage(bytes.subarray(at - length, at))
  })
  const data = bytesOf(...readings)
  freeBytes([bytes], data)
  return transferred(
    readings,
    data.map(({ buffer }) => buffer),
  )
}

/** What to return of a message that is only displayed. */
export interface ViewRequest {
  /** Maximum length of each body; null: no bodies. */
  chars: number | null
  headers: boolean
}

/** A message that is displayed and not stored. */
export interface InspectedMessage extends Pick<MessageReading, 'isMessage' | 'message' | 'sizeBytes'> {
  bodies?: DecodedBodies
  headers?: DecodedField[]
}

/** Pool task: reads a message that is only displayed. */
export async function viewTask({
  bytes,
  chars,
  headers,
}: ViewRequest & { bytes: Uint8Array }): Promise<InspectedMessage> {
  const { isMessage, message, sizeBytes } = readMessage(bytes)
  const { structure: root, textPart, htmlPart } = message
  const layout = { sizeBytes, root, textPart, htmlPart }
  const read = (start: number, end: number) => bytes.subarray(start, end)
  const viewed = {
    ...{ isMessage, sizeBytes, message: { ...message, searchText: '' } },
    bodies: chars === null ? undefined : await readBodies(read, layout, chars),
    headers: headers ? await readHeader(read, layout) : undefined,
  }
  freeBytes([bytes])
  return viewed
}

/** Hands over the buffers under the chunks. */
function moved<T extends { chunks: readonly Chunk[] }>(value: T): T {
  return transferred(
    value,
    bytesOf(value).map(({ buffer }) => buffer),
  )
}
