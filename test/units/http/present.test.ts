// Records in the form of their schema.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { presenterOf } from '../../../src/http/present.ts'
import { Nullable } from '../../../src/http/schema.ts'
import { TimeOf, TimeOrNull } from '../../../src/http/time.ts'

const NoteJson = Type.Object({
  size_bytes: Type.Integer(),
  team_id: Type.String(),
  labels: Nullable(Type.Array(Type.String())),
  read_at: TimeOrNull('When it was read.'),
  created_at: TimeOf('When it was written.'),
})
interface Note {
  teamId: string
  labels: readonly string[] | null
  createdAt: number
  readAt: number | null
  sizeBytes: number
  secret: string
}
const NOTE: Note = { teamId: 'team', labels: ['x'], createdAt: 0, readAt: null, sizeBytes: 3, secret: 's' }

test('members are those of the schema, in its order, with times in ISO 8601', () => {
  const present = presenterOf<Note>()(NoteJson)
  assert.equal(
    JSON.stringify(present(NOTE)),
    '{"size_bytes":3,"team_id":"team","labels":["x"],"read_at":null,"created_at":"1970-01-01T00:00:00.000Z"}',
  )
  assert.equal(present({ ...NOTE, readAt: 1 }).read_at, '1970-01-01T00:00:00.001Z')
})

test('a member that the record has under another name or in another form says where it comes from', () => {
  const present = presenterOf<{ team: string; madeAt: number }, [now: number]>()(
    Type.Object({ team_id: Type.String(), created_at: TimeOf('When it was written.'), is_old: Type.Boolean() }),
    { team_id: ({ team }) => `team_${team}`, created_at: 'madeAt', is_old: ({ madeAt }, now) => madeAt < now },
  )
  const created_at = '1970-01-01T00:00:00.001Z'
  assert.deepEqual(present({ team: 'a', madeAt: 1 }, 2), { team_id: 'team_a', created_at, is_old: true })
})

test('members that the record does not have in the form of the schema have to say where they come from', () => {
  // @ts-expect-error no member `team`
  presenterOf<Note>()(Type.Object({ team: Type.String() }))
  // @ts-expect-error a number where the schema has a text
  presenterOf<Note>()(Type.Object({ size_bytes: Type.String() }))
  // @ts-expect-error null where the schema has none
  presenterOf<Note>()(Type.Object({ read_at: TimeOf('When it was read.') }))
  // @ts-expect-error a text where the schema has a time
  presenterOf<Note>()(Type.Object({ team_id: TimeOf('When it was read.') }))
})
