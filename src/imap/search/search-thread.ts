// Worker thread of searcher.ts: evaluates pages of searches, orders folders and what was found, and looks words up, through connections of its own.

import { ProductError } from '../../base/errors.ts'
import { transferred } from '../../base/thread-pool.ts'
import { threadReads } from '../../db/thread-reader.ts'
import { blobReads } from '../../store/content/blobs.ts'
import { FolderViews } from '../../store/entries/folders-views.ts'
import { MailReads } from '../../store/messages/mail-reads.ts'
import { type OrderTask, orderCollected } from './hit-facts.ts'
import { type InsertionTask, insertInOrder } from './insertion.ts'
import {
  type FolderOrderTask,
  type FolderThreadsTask,
  folderOrder,
  folderThreads,
  type MatchTask,
  matchingInFolder,
} from './keyed-folders.ts'
import { type PageTask, type SearchSource, searchPage } from './page.ts'

/** Paths of the databases. */
export interface SearchFiles {
  mail: string
  blobs: string
}

export interface WordsTask {
  account: number
  part: 'any' | 'body'
  text: string
}

/** Tasks name the files: the thread is shared by all searches of a process. */
export interface FileTask<T> {
  files: SearchFiles
  task: T
}

interface ThreadSource extends SearchSource {
  readonly views: FolderViews
}

const sources = new Map<string, ThreadSource>()

function sourceOf({ mail: mailFile, blobs }: SearchFiles): ThreadSource {
  const known = sources.get(mailFile)
  if (known !== undefined) return known
  const reads = threadReads(mailFile)
  const mail = new MailReads(reads, blobReads(threadReads(blobs).read))
  const inspector: SearchSource['app']['inspector'] = {
    async read(_, load) {
      const { readMessage } = await import('../../workers/read-message.ts')
      return readMessage(await load())
    },
  }
  const views = new FolderViews(reads)
  const source = { app: { store: { programs: { views, mail } }, inspector }, views }
  sources.set(mailFile, source)
  return source
}

/** @throws Error whose cause is the code of a ProductError or of SQLite: a thread hands on no other members of an error */
async function handingOn<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number }
    throw new Error(message, { cause: error instanceof ProductError ? error.code : errcode })
  }
}

export async function pageTask({ files, task }: FileTask<PageTask>): Promise<unknown> {
  const page = await handingOn(() => searchPage(sourceOf(files), task))
  const { uids, modSeqs, facts, undecided } = page
  const buffers = [uids, modSeqs, undecided.uids, undecided.messages, ...(facts === null ? [] : [facts])]
  return transferred(
    page,
    buffers.map(({ buffer }) => buffer),
  )
}

/** Numbers of the messages with the words, ascending; null when the text has none. */
export async function wordsTask({ files, task }: FileTask<WordsTask>): Promise<unknown> {
  const found = await handingOn(() => sourceOf(files).app.store.programs.mail.withWords(task.account, task))
  if (found === null) return null
  const numbers = Float64Array.from(found).sort()
  return transferred(numbers, [numbers.buffer])
}

export async function insertionTask({ files, task }: FileTask<InsertionTask>): Promise<unknown> {
  const inserted = await handingOn(() => insertInOrder(sourceOf(files), task))
  return transferred(inserted, [inserted.buffer])
}

/** @returns null when keys are missing */
export async function folderOrderTask({ files, task }: FileTask<FolderOrderTask>): Promise<unknown> {
  const uids = await handingOn(async () => folderOrder(sourceOf(files).views, task))
  return uids === null ? null : transferred(uids, [uids.buffer])
}

/** @returns null when keys are missing */
export async function folderThreadsTask({ files, task }: FileTask<FolderThreadsTask>): Promise<unknown> {
  const text = await handingOn(async () => folderThreads(sourceOf(files).views, task))
  return text === null ? null : transferred(text, [text.buffer])
}

export async function matchTask({ files, task }: FileTask<MatchTask>): Promise<unknown> {
  const matching = await handingOn(() => matchingInFolder(sourceOf(files).views, task))
  return transferred(matching, [matching.found.buffer, matching.undecided.buffer])
}

export function orderTask({ task }: FileTask<OrderTask>): unknown {
  const ordered = orderCollected(task)
  const buffers = ordered.kind === 'sort' ? [ordered.uids, ordered.modSeqs] : [ordered.text]
  return transferred(
    ordered,
    buffers.map(({ buffer }) => buffer),
  )
}
