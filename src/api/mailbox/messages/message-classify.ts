// Says of a message whether it is junk: moves it, teaches the spam filter, and takes both back.

import { type Static, Type } from 'typebox'
import { invalid, notFound } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import { route } from '../../../http/route.ts'
import { Id, Nullable, Words } from '../../../http/schema.ts'
import type { MessageChange } from '../../../store/messages/edits.ts'
import { labelOf, type SpamLabel } from '../../../store/messages/spam-labels.ts'
import type { Account } from '../../../store/rows/records.ts'
import { writableAccountOf } from '../../rules/account.ts'
import { FolderIds } from '../../rules/message-members.ts'
import { record } from '../../schemas/record.ts'
import { WRITERS } from './message-edit.ts'

const Label = Words(['spam', 'ham'], '`ham`: a good message.')

const Classified = record('MessageClassified', 'What was said of the message, and what it changes.', {
  id: Id('message'),
  label: Nullable(Label),
  previous_label: Nullable(Label),
  folder_ids: FolderIds('The folders of the message now.', 1),
  effects: Type.Array(Type.String(), { description: 'What the spam filter does from now on, in sentences.' }),
  state: Type.String({ description: 'Opaque state of the messages of the mailbox.' }),
})

export const classifyMessage = route({
  method: 'POST',
  path: '/mailbox/messages/{message_id}/classify',
  docs: {
    operation: 'updateMessageLabel',
    tag: 'Messages',
    summary: 'Mark a message as spam or as good, or take that back',
    description:
      '`spam` moves it to Junk, `ham` from Junk to the Inbox, and the spam filter of the mailbox learns it within a minute. ' +
      '`none` takes back what was said: the filter forgets it, and the message returns to where the filter had filed it.',
  },
  access: { as: 'mailbox', permission: WRITERS },
  params: Type.Object({ message_id: Id('message') }),
  body: {
    schema: record(
      'MessageClassify',
      'What is said of the message.',
      { as: Words(['spam', 'ham', 'none'], '`none`: nothing any more.') },
      { as: 'spam' },
    ),
  },
  reply: { schema: Classified },
  async handle({ params: { message_id: id }, body, principal, app }): Promise<Static<typeof Classified>> {
    const account = writableAccountOf(app, principal)
    const before = labeled(app, account, id)
    const { notUpdated } = await app.store.edit.messages.change(account, [id], changeFor(app, account, body.as, before))
    if (notUpdated[0] !== undefined) throw invalid('as', 'forbidden_value', notUpdated[0].message)
    const now = labeled(app, account, id)
    return {
      id,
      label: nameOf(now.label),
      previous_label: nameOf(before.label),
      folder_ids: now.folderIds,
      effects: effectsOf(now.label, before.label),
      state: app.store.accounts.byMailbox(account.mailboxId)!.states.messages,
    }
  },
})

interface Labeled {
  label: SpamLabel | null
  folderIds: string[]
  wasSpam: boolean
}

function labeled(app: Context, account: Account, id: string): Labeled {
  const message = app.store.read.messages.get(account, id)
  if (message === undefined) throw notFound('message')
  const label = labelOf(app.db.read, account.n, message.blobHash)
  return { label, folderIds: message.folderIds, wasSpam: message.spam.isSpam }
}

function changeFor(
  app: Context,
  account: Account,
  says: 'spam' | 'ham' | 'none',
  { label, folderIds, wasSpam }: Labeled,
): MessageChange {
  const keys = app.store.read.folders.keys(account)
  const idOf = (role: string) => keys.find((folder) => folder.role === role)!.id
  const isJunk = folderIds.includes(idOf('junk'))
  const toInbox = isJunk ? { remove: [idOf('junk')], add: [idOf('inbox')] } : undefined
  const taught = { teaches: 'api', says: says === 'none' ? 'nothing' : says } as const
  if (says === 'spam') return { keywords: { add: ['$junk'] }, folders: { set: [idOf('junk')] }, ...taught }
  if (says === 'ham') return { keywords: { add: ['$notjunk'] }, folders: toInbox, ...taught }
  const folders = label === null ? undefined : wasSpam ? { set: [idOf('junk')] } : toInbox
  return { keywords: { remove: ['$junk', '$notjunk'], add: wasSpam ? ['$junk'] : [] }, folders, ...taught }
}

function nameOf(label: SpamLabel | null): 'spam' | 'ham' | null {
  return label === null ? null : label.isSpam ? 'spam' : 'ham'
}

function effectsOf(label: SpamLabel | null, before: SpamLabel | null): string[] {
  if (label === null) return before === null ? [] : ['The spam filter forgets what was said of this message.']
  const like = label.isSpam
    ? 'Messages like this one are more likely to go to Junk.'
    : 'Messages like this one are more likely to stay in the Inbox.'
  if (label.sender === '') return [like, 'Nothing proves who sent it, so that nothing is learned of its sender.']
  const sender = label.isSpam
    ? `Messages from ${label.sender} go to Junk while you have not kept or answered others from there.`
    : `Messages from ${label.sender} go to the Inbox.`
  return [like, sender]
}
