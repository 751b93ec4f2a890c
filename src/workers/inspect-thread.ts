// The thread in which mails are inspected: it keeps a DNS client, whose cache serves all mails that pass here.

import { readFile } from 'node:fs/promises'
import { workerData } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { systemClock } from '../base/clock.ts'
import { openResolver } from '../base/resolver.ts'
import type { Chunk } from '../mime/message.ts'
import { type Bodies, type Field, readBodies, readHeader } from '../mime/view.ts'
import { inspect } from './inspect.ts'
import type { Inspection, InspectionRequest, Reading } from './inspection.ts'
import { readMail } from './read-message.ts'

/** Where a mail's bytes are: here, or in a file that the thread reads itself. */
export type MailSource = { bytes: Uint8Array } | { file: string }

/** What the thread is told at its start. */
export interface ThreadSettings {
  dnsServers: string[]
}

const resolver = openResolver({ servers: (workerData as ThreadSettings).dnsServers, clock: systemClock })

/** The task of the pool for mail that arrives. */
export async function inspectTask(task: { source: MailSource; arrival: InspectionRequest }): Promise<Inspection> {
  const bytes = 'file' in task.source ? await readFile(task.source.file) : task.source.bytes
  return handedOver(await inspect(bytes, task.arrival, resolver))
}

/** The task of the pool for mail that is handed in, or kept already. */
export function readTask({ bytes }: { bytes: Uint8Array }): Reading {
  return handedOver(readMail(bytes))
}

/** What is wanted of a mail that is only to be shown. */
export interface Showing {
  /** Of each body; null: no bodies. */
  chars: number | null
  headers: boolean
}

/** A mail that is shown and not kept. */
export interface Shown extends Pick<Reading, 'isMail' | 'mail' | 'sizeBytes'> {
  bodies?: Bodies
  headers?: Field[]
}

/** The task of the pool for mail that is only to be shown. */
export async function showTask({ bytes, chars, headers }: Showing & { bytes: Uint8Array }): Promise<Shown> {
  const { isMail, mail, sizeBytes } = readMail(bytes)
  const { structure: root, textPart, htmlPart } = mail
  const layout = { sizeBytes, root, textPart, htmlPart }
  const read = async (start: number, end: number) => bytes.subarray(start, end)
  return {
    ...{ isMail, sizeBytes, mail: { ...mail, searchText: '' } },
    bodies: chars === null ? undefined : await readBodies(read, layout, chars),
    headers: headers ? await readHeader(read, layout) : undefined,
  }
}

/** The memory under the chunks is handed over, not copied; the pool takes the wrapper for the value it stands for. */
function handedOver<T extends { chunks: readonly Chunk[] }>(value: T): T {
  const buffers = new Set(value.chunks.map((chunk) => chunk.data.buffer as ArrayBuffer))
  return move({ [transferableSymbol]: [...buffers], [valueSymbol]: value } as never) as unknown as T
}
