// `mailstead spam state`, `retrain`, `export`, `reset`, `explain`: what the spam filter of a mailbox has learned, and why it judges as it does.

import { readFile } from 'node:fs/promises'
import { presentSpamParts } from '../../api/schemas/spam.ts'
import { isoTime } from '../../base/clock.ts'
import { ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import { readHeaders } from '../../mime/headers.ts'
import { parseMessage } from '../../mime/parse.ts'
import { readMaterial } from '../../spam/material.ts'
import { examineContent, scoreContent } from '../../spam/score.ts'
import { startModel } from '../../spam/start-model.ts'
import type { Account } from '../../store/rows/records.ts'
import type { Call, Command } from '../frame/command.ts'
import { chooseMailbox } from '../frame/mailbox-choice.ts'
import { table } from '../frame/table.ts'

/** Bytes of a message that are explained. */
const FILE_MAX = 64 * 1024 * 1024

export const spamState: Command = {
  words: 'spam state',
  summary:
    'Show what the spam filter of a mailbox has learned, from whom, and how many of its verdicts were corrected.',
  operands: ['email'],
  async run(call) {
    const { app, mailbox, account } = await openMailbox(call)
    const { labels, mailbox: own, team } = app.store.spam.learning.state(account, mailbox.teamId)
    const rows = labels.map(({ source, isSpam, count, corrected }) => ({
      ...{ source, label: isSpam ? 'spam' : 'ham' },
      ...{ count, corrected },
    }))
    const trained = own === null ? null : { spam: own.spam, ham: own.ham, trained_at: isoTime(own.trainedAt) }
    const loss = app.config.SPAM_JUNK_HAM_LOSS
    const cells = rows.map(({ source, label, count, corrected }) => [source, label, String(count), String(corrected)])
    return {
      data: { labels: rows, model: trained, team: team && { spam: team.spam, ham: team.ham }, ham_loss: loss },
      lines: [
        ...(rows.length === 0
          ? [`${mailbox.email} has labeled nothing yet.`]
          : table([['Source', 'Label', 'Messages', 'Corrected'], ...cells])),
        trained === null
          ? 'It uses the start model that comes with the program.'
          : `Its model has learned ${trained.spam} spam and ${trained.ham} good messages.`,
        `Words alone file about 1 in ${Math.round(1 / loss).toLocaleString('en')} good messages to Junk (SPAM_JUNK_HAM_LOSS).`,
      ],
    }
  },
}

export const spamRetrain: Command = {
  words: 'spam retrain',
  summary: 'Learn from what a mailbox has filed: Junk as spam, other folders that were read as good messages.',
  operands: ['email'],
  async run(call) {
    const { app, mailbox, account } = await openMailbox(call)
    const { spam, ham } = await app.store.spam.learning.retrain(account)
    await app.store.spam.learning.run((id) => app.directory.mailboxes.byId(id)?.teamId, call.untilStopped())
    return {
      data: { added: { spam, ham } },
      lines: [`${mailbox.email} has learned ${spam} more messages of Junk and ${ham} that were kept.`],
    }
  },
}

export const spamExport: Command = {
  words: 'spam export',
  summary:
    'Print the labels of a mailbox, newest first: the hash of the content, the label, its source and its sender.',
  operands: ['email'],
  async run(call) {
    const { app, account } = await openMailbox(call)
    const rows = app.store.spam.learning
      .labels(account)
      .map(({ content, isSpam, source, sender, labeledAt, facts }) => ({
        ...{ content: Buffer.from(content).toString('hex'), label: isSpam ? 'spam' : 'ham' },
        ...{ source, sender, labeled_at: isoTime(labeledAt), reasons: facts },
      }))
    const cells = rows.map(({ labeled_at: at, label, source, sender, content }) => [at, label, source, sender, content])
    return { data: rows, lines: table([['Labeled', 'Label', 'Source', 'Sender', 'Content'], ...cells]) }
  },
}

export const spamReset: Command = {
  words: 'spam reset',
  summary: 'Forget all labels and the model of a mailbox; the model of its team is made again without them.',
  operands: ['email'],
  async run(call) {
    const { app, mailbox, account } = await openMailbox(call)
    await app.store.spam.learning.reset(account)
    return {
      data: { reset: true, email: mailbox.email },
      lines: [`${mailbox.email} has forgotten what it had learned.`],
    }
  },
}

export const spamExplain: Command = {
  words: 'spam explain',
  summary: 'Explain the spam score of the content of a message in a file; who sent it is not examined.',
  operands: ['file'],
  options: { mailbox: { value: 'email', says: 'with what this mailbox and its team have learned' } },
  async run(call) {
    const bytes = await messageIn(call.operands[0]!)
    const email = call.text('mailbox')
    const app = await call.open()
    const { key } = app.store.spam.learning
    const mailbox = email === undefined ? null : chooseMailbox(app.directory, email)
    const models = mailbox === null ? [] : app.store.spam.models.of(mailbox.id, mailbox.teamId)
    const message = parseMessage(bytes)
    const options = { isList: false, fields: readHeaders(bytes).fields, key }
    const content = examineContent(readMaterial(bytes, message), options, startModel())
    const hamLoss = app.config.SPAM_JUNK_HAM_LOSS
    const { score, probability, parts } = scoreContent(content, { history: null, models, opinions: [], hamLoss, key })
    const shown = presentSpamParts(parts)
    const cells = shown.map(({ points, sentence, detail }) => [points.toFixed(1), sentence, detail ?? ''])
    return {
      data: { score, probability, evidence: shown },
      lines: [
        `Score ${score} of ${app.config.SPAM_JUNK_SCORE} for Junk; probability of spam ${Math.round(100 * probability)} %.`,
        ...(cells.length === 0
          ? ['Nothing speaks for or against it.']
          : table([['Points', 'Reason', 'Detail'], ...cells])),
      ],
    }
  },
}

async function messageIn(path: string): Promise<Uint8Array> {
  const bytes = await readFile(path).catch(() => {
    throw new ProductError('not_found', `The file ${path} cannot be read. Name a message in a file.`)
  })
  if (bytes.length > FILE_MAX) throw new ProductError('validation_error', `The file ${path} is larger than 64 MiB.`)
  return bytes
}

async function openMailbox(call: Call): Promise<{ app: Context; mailbox: Mailbox; account: Account }> {
  const app = await call.open()
  const mailbox = chooseMailbox(app.directory, call.operands[0]!)
  const account = app.store.accounts.byMailbox(mailbox.id)
  if (account === undefined) throw new ProductError('not_found', `The mailbox ${mailbox.email} has no messages.`)
  return { app, mailbox, account }
}
