// A short valid message to send.

import type { NewMail } from '../../src/outbound/model/new-message.ts'

export function newMail(more: Partial<NewMail> = {}): NewMail {
  return {
    from: { email: 'news@shop.test', name: 'Shop' },
    to: [{ email: 'ben@shop.test', name: 'Ben' }],
    cc: [],
    bcc: [],
    replyTo: [],
    subject: 'Hello',
    textBody: 'Hello Ben',
    htmlBody: null,
    headers: {},
    attachments: [],
    returnPath: null,
    inReplyTo: null,
    sendAt: null,
    undoSeconds: 0,
    saveToSent: true,
    ...more,
  }
}
