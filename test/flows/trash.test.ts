// Trash and Junk are emptied of what has lain there for thirty days, and everybody who follows the mailbox is told.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Folder } from '../../src/api/schemas/folder.ts'
import type { MessageSummary } from '../../src/api/schemas/message-summary.ts'
import type { Session } from '../../src/api/schemas/session.ts'
import { trashRetention } from '../../src/jobs/trash-retention.ts'
import { data, failure, receive, walk } from '../api/expect.ts'
import { ManualClock } from '../support/clock.ts'
import { startHouse } from '../support/house.ts'
import { sweepContent } from '../support/kept.ts'

const DAY_MS = 86_400_000

test('mail goes thirty days after it was thrown away, however old it is', async () => {
  const clock = new ManualClock()
  await using house = await startHouse({ clock })
  const team = await house.team()
  await team.domain('shop.test')
  const ana = await team.mailbox('ana@shop.test')
  const subjects = ['Thrown', 'Spam', 'Filed', 'Answer', 'Late', 'Kept']
  for (const subject of subjects) await receive(house, { to: ana.email, subject, id: `${subject}@else.test` })
  await receive(house, { to: ana.email, subject: 'Re: Answer', more: ['In-Reply-To: <Answer@else.test>'] })
  const all = await walk<MessageSummary>(house, '/mailbox/messages', ana.key)
  const idOf = (subject: string) => all.find((message) => message.subject === subject)!.id
  const folders = await walk<Folder>(house, '/mailbox/folders', ana.key)
  const folderOf = (role: string) => folders.find((folder) => folder.role === role)!.id
  const change = async (subject: string, body: object) =>
    data(await house.call('PATCH', `/mailbox/messages/${idOf(subject)}`, ana.key, body))
  const throwAway = async (subject: string) =>
    data(await house.call('DELETE', `/mailbox/messages/${idOf(subject)}`, ana.key))

  for (const subject of ['Thrown', 'Answer']) await throwAway(subject)
  await change('Spam', { keywords: ['$junk'] })
  await change('Filed', { folder_ids: [folderOf('trash'), folderOf('archive')] })
  clock.leap(20 * DAY_MS)
  await throwAway('Late')

  const { states } = data<Session>(await house.get('/mailbox/session', ana.key))
  const empty = () => trashRetention.run({ app: house.app, log: house.app.log, signal: new AbortController().signal })
  const shown = async (query = '') =>
    (await walk<MessageSummary>(house, `/mailbox/messages?in_trash_or_junk=true${query}`, ana.key))
      .map(({ subject }) => subject)
      .sort()
  clock.leap(10 * DAY_MS)
  await empty()
  assert.deepEqual(await shown(), [...subjects, 'Re: Answer'].sort(), 'not before the thirty days are over')
  clock.leap(1)
  await empty()
  assert.deepEqual(await shown(), ['Filed', 'Kept', 'Late', 'Re: Answer'])
  assert.deepEqual(await shown(`&folder_id=${folderOf('trash')}`), ['Late'])
  assert.deepEqual(await shown('&q=thrown'), [])
  failure(await house.get(`/mailbox/messages/${idOf('Thrown')}`, ana.key), 404, 'not_found')

  const told = data<Record<'created' | 'updated' | 'destroyed', string[]>>(
    await house.get(`/mailbox/messages/changes?since_state=${states.messages}`, ana.key),
  )
  assert.deepEqual(told.destroyed.sort(), ['Thrown', 'Spam', 'Answer'].map(idOf).sort())
  assert.deepEqual(told.updated, [idOf('Filed')])
  const after = await walk<Folder>(house, '/mailbox/folders', ana.key)
  const counts = (role: string) => after.find((folder) => folder.role === role)!.total_messages
  assert.deepEqual(['inbox', 'trash', 'junk', 'archive'].map(counts), [2, 1, 0, 1])
  assert.equal(await empty(), 0)
  clock.leap(20 * DAY_MS)
  await empty()
  assert.deepEqual(await shown(), ['Filed', 'Kept', 'Re: Answer'])
  await sweepContent(house, clock)
})
