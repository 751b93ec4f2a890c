// `mailstead operator grant`, `operator withdraw` and `operator list`: people who reach the operator pages in the browser.

import { checkPersonEmail } from '../../people/members.ts'
import { auditCommand } from '../frame/audit-command.ts'
import type { Command } from '../frame/command.ts'

export const operatorGrant: Command = {
  words: 'operator grant',
  summary: 'Make a person an operator, and print a one-time link that signs them in.',
  operands: ['email'],
  async run(call) {
    const app = await call.open()
    const email = checkPersonEmail(call.operands[0]!)
    const { people, db } = app
    const url = await db.write((tx) => {
      people.persons.setOperator(tx, email, true)
      auditCommand(tx, app, 'operator grant', { email, teamId: null })
      return people.makeOperatorLink(tx, email)
    })
    return {
      data: { email, operator: true, url },
      lines: [
        `${email} is now an operator. This link signs in with all their rights. It works once, for 15 minutes:`,
        `  ${url}`,
      ],
    }
  },
}

export const operatorWithdraw: Command = {
  words: 'operator withdraw',
  summary: 'Make a person no operator any more.',
  operands: ['email'],
  async run(call) {
    const app = await call.open()
    const email = checkPersonEmail(call.operands[0]!)
    await app.db.write((tx) => {
      app.people.withdrawOperator(tx, email)
      auditCommand(tx, app, 'operator withdraw', { email, teamId: null })
    })
    return { data: { email, operator: false }, lines: [`${email} is no operator any more.`] }
  },
}

export const operatorList: Command = {
  words: 'operator list',
  summary: 'List the people who are operators.',
  async run(call) {
    const { people } = await call.open()
    const emails = people.persons.operators()
    const none = ['No person is an operator. Make one with mailstead operator grant <email>.']
    return { data: emails.map((email) => ({ email })), lines: emails.length === 0 ? none : emails }
  },
}
