// Messages that were in Trash and Junk for thirty days are deleted, and event streams report it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FolderJson } from '../../src/api/schemas/folder.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import type { Session } from '../../src/api/schemas/session.ts'
import { trashRetention } from '../../src/jobs/trash-retention.ts'
import { data, failure, receive, walk } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { sweepContent } from '../support/stored.ts'

const DAY_MS = 86_400_000

test('a message is deleted thirty days after it was moved to Trash, whatever its age', async () => {
  const clock = new ManualClock()
  await using appliance = await startAppliance({ clock })
  const team = await appliance.team()
  await team.domain('shop.test')
  const ana = await team.mailbox('ana@shop.test')
  const subjects = ['Thrown', 'Spam', 'Filed', 'Answer', 'Late', 'Kept']
  for (const subject of subjects) await receive(appliance, { to: ana.email, subject, id: `${subject}@else.test` })
  await receive(appliance, { to: ana.email, subject: 'Re: Answer', more: ['In-Reply-To: <Answer@else.test>'] })
  const all = await walk<MessageSummaryJson>(appliance, '/mailbox/messages', ana.key)
  const idOf = (subject: string) => all.find((message) => message.subject === subject)!.id
  const folders = await walk<FolderJson>(appliance, '/mailbox/folders', ana.key)
  const folderOf = (role: string) => folders.find((folder) => folder.role === role)!.id
  const change = async (subject: string, body: object) =>
    data(await appliance.call('PATCH', `/mailbox/messages/${idOf(subject)}`, ana.key, body))
  const throwAway = async (subject: string) =>
    data(await appliance.call('DELETE', `/mailbox/messages/${idOf(subject)}`, ana.key))

  for (const subject of ['Thrown', 'Answer']) await throwAway(subject)
  await change('Spam', { keywords: ['$junk'] })
  await change('Filed', { folder_ids: [folderOf('trash'), folderOf('archive')] })
  clock.leap(20 * DAY_MS)
  await throwAway('Late')

  const { states } = data<Session>(await appliance.get('/mailbox/session', ana.key))
  const empty = () =>
    trashRetention.run({ app: appliance.app, log: appliance.app.log, signal: new AbortController().signal })
  const shown = async (query = '') =>
    (await walk<MessageSummaryJson>(appliance, `/mailbox/messages?in_trash_or_junk=true${query}`, ana.key))
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
  failure(await appliance.get(`/mailbox/messages/${idOf('Thrown')}`, ana.key), 404, 'not_found')

  const reported = data<Record<'created' | 'updated' | 'destroyed', string[]>>(
    await appliance.get(`/mailbox/messages/changes?since_state=${states.messages}`, ana.key),
  )
  assert.deepEqual(reported.destroyed.sort(), ['Thrown', 'Spam', 'Answer'].map(idOf).sort())
  assert.deepEqual(reported.updated, [idOf('Filed')])
  const after = await walk<FolderJson>(appliance, '/mailbox/folders', ana.key)
  const counts = (role: string) => after.find((folder) => folder.role === role)!.total_messages
  assert.deepEqual(['inbox', 'trash', 'junk', 'archive'].map(counts), [2, 1, 0, 1])
  assert.equal(await empty(), 0)
  clock.leap(20 * DAY_MS)
  await empty()
  assert.deepEqual(await shown(), ['Filed', 'Kept', 'Re: Answer'])
  await sweepContent(appliance, clock)
})
