// Facts and extractions of a message, read once however many requests wait for it.

import type { Extracted } from '../../../content/codes/extracted.ts'
import type { Context } from '../../../context.ts'
import { domainOf } from '../../../mime/address.ts'
import { orDamaged } from '../../../store/content/damaged-content.ts'
import type { Account, MessageDetail } from '../../../store/rows/records.ts'
import { turnOwnerOf } from '../../rules/account.ts'
import type { SenderFacts } from '../../schemas/extracted.ts'

/** Messages whose extractions are remembered. */
const REMEMBERED_MAX = 200
const OPTIONS = { format: 'text', chars: 0, includeQuoted: false, includeSignature: false, links: 'none' } as const

const remembered = new WeakMap<Context, Map<string, Promise<Extracted[]>>>()

export function senderFacts(app: Context, account: Account, { id, from, authentication }: MessageDetail): SenderFacts {
  return {
    email: from.email,
    domain: domainOf(from.email).toLowerCase(),
    isAuthenticated: authentication.fromAligned,
    isFirstSeen: app.store.read.messages.isFirstFrom(account, id, from.email),
  }
}

/** Nothing of a message that is damaged or deleted. @throws ProductError service_unavailable when too many are being read */
export async function extractionsOf(app: Context, account: Account, message: MessageDetail): Promise<Extracted[]> {
  const known = remembered.get(app) ?? new Map<string, Promise<Extracted[]>>()
  remembered.set(app, known)
  const reading = known.get(message.id) ?? extract(app, account, message)
  known.set(message.id, reading)
  if (known.size > REMEMBERED_MAX) known.delete(known.keys().next().value!)
  try {
    return await reading
  } catch (error) {
    // The next request tries again.
    known.delete(message.id)
    throw error
  }
}

async function extract(app: Context, account: Account, { id, from, subject }: MessageDetail): Promise<Extracted[]> {
  const bodies = await orDamaged(app.store.read.messages.storedBodies(account, id))
  if (bodies === undefined || bodies === 'damaged') return []
  const task = { ...bodies, fromDomain: domainOf(from.email), subject, options: OPTIONS }
  return (await app.cleaner.clean(task, turnOwnerOf(app, account))).extracted
}
