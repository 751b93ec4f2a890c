// GETMETADATA and SETMETADATA (RFC 5464): annotations of the mailbox and of its folders.

import { ANNOTATION_BYTES, ANNOTATIONS_MAX, type AnnotationValues } from '../../store/rows/annotations.ts'
import {
  type MetadataChange,
  type MetadataRequest,
  readMetadataChange,
  readMetadataRequest,
} from '../grammar/metadata.ts'
import { no, ok, type TaggedAnswer } from '../session/answers.ts'
import { command, type ImapSession } from '../session/session.ts'
import { type NamedFolder, namedFolder } from '../untagged/folder-tree.ts'
import { annotationsOf, SPECIAL_USE_ENTRY, sayMetadata } from '../untagged/metadata.ts'

/** An empty name means the server. */
function targetOf(session: ImapSession, mailbox: Buffer): NamedFolder | null {
  return mailbox.length === 0 ? null : namedFolder(session, mailbox)
}

/** What a request names: without depth each entry, also one that is not there. */
function requested(
  known: AnnotationValues,
  { entries, depth }: MetadataRequest,
): (readonly [entry: string, value: Uint8Array | null])[] {
  if (depth === 0) return entries.map((entry) => [entry, known.get(entry) ?? null])
  const isBelow = (name: string) =>
    entries.some((entry) => name === entry || levelsBelow(entry, name) <= (depth === 1 ? 1 : Number.MAX_SAFE_INTEGER))
  return [...known].filter(([name]) => isBelow(name))
}

/** How many levels a name is below an entry; infinite when it is not below it. */
function levelsBelow(entry: string, name: string): number {
  return name.startsWith(`${entry}/`) ? name.slice(entry.length + 1).split('/').length : Number.POSITIVE_INFINITY
}

function getMetadata(session: ImapSession, request: MetadataRequest): TaggedAnswer | undefined {
  const named = targetOf(session, request.mailbox)
  const found = requested(annotationsOf(session, named), request)
  const most = request.maxSize ?? Number.POSITIVE_INFINITY
  const size = (value: Uint8Array | null) => value?.length ?? 0
  const tooLong = found.map(([, value]) => size(value)).filter((bytes) => bytes > most)
  sayMetadata(
    session,
    named?.path ?? '',
    found.filter(([, value]) => size(value) <= most),
  )
  if (tooLong.length === 0) return undefined
  return ok('Some values are longer.', `METADATA LONGENTRIES ${tooLong.reduce((a, b) => Math.max(a, b))}`)
}

async function setMetadata(session: ImapSession, { mailbox, values }: MetadataChange): Promise<undefined> {
  const { app, signedIn } = session
  for (const [entry, value] of values) assertAllowed(entry, value, mailbox.length === 0)
  const named = targetOf(session, mailbox)
  await app.db.write((tx) => {
    if (named !== null && app.store.programs.views.head(named.folder.n, tx) === undefined)
      throw no('NONEXISTENT', 'There is no such mailbox.')
    if (!app.store.programs.annotations.change(tx, signedIn.account, named?.folder.n ?? null, values))
      throw no('METADATA TOOMANY', `There are at most ${ANNOTATIONS_MAX} entries.`)
  })
  const change = { folder: named?.folder.n ?? null, entries: [...values.keys()], by: session }
  app.annotationChanges.changed(signedIn.account, change)
  return undefined
}

/** @throws CommandFailure */
function assertAllowed(entry: string, value: Buffer | null, isServer: boolean): void {
  const [, scope, kind, ...more] = entry.split('/')
  if ((scope !== 'private' && scope !== 'shared') || kind === undefined)
    throw no('CANNOT', 'Entries begin with /private/ or /shared/.')
  // RFC 5464 §3.2: a vendor's token, and a name.
  if (kind === 'vendor' && more.length < 2) throw no('CANNOT', 'Entries of vendors have four levels at least.')
  if (entry === SPECIAL_USE_ENTRY) throw no('CANNOT', 'The use of a mailbox cannot be changed.')
  // What is shared of the server is the same for all mailboxes.
  if (isServer && scope === 'shared') throw no('NOPERM', 'Shared entries of the server cannot be changed.')
  if (value !== null && value.length > ANNOTATION_BYTES)
    throw no(`METADATA MAXSIZE ${ANNOTATION_BYTES}`, 'The value is too long.')
}

export const getMetadataCommand = command({
  name: 'GETMETADATA',
  in: 'authenticated',
  needs: 'read',
  read: readMetadataRequest,
  run: (request, session) => getMetadata(session, request),
})

export const setMetadataCommand = command({
  name: 'SETMETADATA',
  in: 'authenticated',
  needs: 'write',
  read: readMetadataChange,
  run: (change, session) => setMetadata(session, change),
})
