// The one-line message that tests an account (docs/design/sending.md §1).

import { newId } from '../../base/ids.ts'
import { domainOf } from '../../mime/address.ts'
import { compose } from '../../mime/compose/compose.ts'

export const TEST_SUBJECT = 'Test of a sending account'
export const TEST_TEXT = 'This message shows that the sending account works.'

export interface TestMail {
  emailId: string
  internetMessageId: string
  bytes: Buffer
}

/** @param options.now ms, for the Date field */
export function testMail({ from, to, now }: { from: string; to: string; now: number }): TestMail {
  const emailId = newId('email')
  const internetMessageId = `${emailId}@${domainOf(from)}`
  const { bytes } = compose({
    from: { email: from, name: '' },
    to: [{ email: to, name: '' }],
    cc: [],
    bcc: [],
    replyTo: [],
    subject: TEST_SUBJECT,
    textBody: TEST_TEXT,
    htmlBody: null,
    headers: [],
    attachments: [],
    messageId: internetMessageId,
    date: now,
    inReplyTo: null,
    references: [],
  })
  return { emailId, internetMessageId, bytes }
}
