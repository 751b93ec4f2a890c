// A throw-away address of a mailbox.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { MADE_FOR_MAX, type ThrowAwayAddress } from '../../directory/mailboxes/aliases-throw-away.ts'
import { Id } from '../../http/schema.ts'
import { record } from './record.ts'
import { isoTimeOrNull, TimeOf, TimeOrNull } from './time.ts'

const MadeFor = Type.String({
  minLength: 1,
  maxLength: MADE_FOR_MAX,
  description: 'Who gets the address: a domain, or a word of your own. Its first word begins the address.',
  examples: ['shop.example'],
})
const Paused = Type.Boolean({ description: 'Mail to the address is refused (550 5.2.1) until it is no longer paused.' })

export const ThrowAwayCreate = record(
  'ThrowAwayAddressCreate',
  'The new address.',
  { made_for: MadeFor },
  { made_for: 'shop.example' },
)

export const ThrowAwayUpdate = record(
  'ThrowAwayAddressUpdate',
  'The change; members left out stay.',
  { made_for: Type.Optional(MadeFor), paused: Type.Optional(Paused) },
  { paused: true },
)

export const ThrowAwayJson = record(
  'ThrowAwayAddress',
  'An address that a mailbox made for one correspondent: it receives and sends as an alias does, and can be paused or ended.',
  {
    id: Id('throwAwayAddress'),
    email: Type.String({
      description: 'Lower-case address; what follows the dot is random, so that it cannot be guessed.',
    }),
    made_for: MadeFor,
    paused: Paused,
    paused_at: TimeOrNull('Since when it is paused; null while it receives.'),
    created_at: TimeOf('When it was created.'),
  },
  {
    ...{ id: 'taddr_0a1b2c3d4e5f6g7h8i9j0k1l', email: 'shop.k7m2xqw@shop.example', made_for: 'shop.example' },
    ...{ paused: false, paused_at: null, created_at: '2030-01-02T03:04:05.000Z' },
  },
)
export type ThrowAwayJson = Static<typeof ThrowAwayJson>

export function presentThrowAway({ id, email, madeFor, pausedAt, createdAt }: ThrowAwayAddress): ThrowAwayJson {
  const state = { paused: pausedAt !== null, paused_at: isoTimeOrNull(pausedAt) }
  return { id, email, made_for: madeFor, ...state, created_at: isoTime(createdAt) }
}
