// Another language in the place of the English texts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { doubtsOf } from '../../../web/src/mail/compose/doubts.ts'
import { compose } from '../../../web/src/words/en/compose.ts'
import { replaceTexts } from '../../../web/src/words/replace.ts'

test('a list of another language is whole, also where the English one is shorter', () => {
  const attachedWords = ['anhang', 'anbei', 'angehängt', 'beigefügt', 'attached', 'attachment', 'enclosed']
  replaceTexts({ compose }, { compose: { attachedWords } })
  assert.deepEqual(compose.attachedWords, attachedWords)
  const fields = { to: [], cc: [], bcc: [], subject: 'Plan', attachments: [] }
  for (const text of ['Der Plan liegt anbei.', 'Two drawings are enclosed.']) {
    const kinds = doubtsOf({ fields, text, contacts: [], own: 'ana@harbour.example' }).map(({ kind }) => kind)
    assert.deepEqual(kinds, ['noFile'], text)
  }
})
