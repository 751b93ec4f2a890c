// The head of a message that is being written: from, the recipients, and the subject.

import { useEffect, useId, useState } from 'preact/hooks'
import { listIdentities } from '../../api/drafts.ts'
import type { Identity } from '../../api/types.ts'
import { Button } from '../../parts/button.tsx'
import { Recipients } from '../../parts/recipients.tsx'
import { compose as words } from '../../words/en/compose.ts'
import type { DraftWriter } from './draft-writer.ts'

export function Heads({ writer, hasFocus }: { writer: DraftWriter; hasFocus: boolean }) {
  const { to, cc, bcc, subject } = writer.fields.value
  const contacts = writer.data.contacts.value
  const id = useId()
  useEffect(() => void writer.data.readContacts().catch(() => null), [writer])
  const [isMoreShown, setMoreShown] = useState(cc.length + bcc.length > 0)
  return (
    <div class="composer-heads">
      <From writer={writer} />
      <div class="composer-to">
        <Recipients
          label={words.to}
          people={to}
          contacts={contacts}
          onPeople={(people) => writer.change({ to: people })}
          hasFocus={hasFocus}
        />
        {!isMoreShown && (
          <Button kind="quiet" size="short" onPress={() => setMoreShown(true)}>
            {words.moreFields}
          </Button>
        )}
      </div>
      {isMoreShown && (
        <>
          <Recipients
            label={words.cc}
            people={cc}
            contacts={contacts}
            onPeople={(people) => writer.change({ cc: people })}
          />
          <Recipients
            label={words.bcc}
            people={bcc}
            contacts={contacts}
            onPeople={(people) => writer.change({ bcc: people })}
          />
        </>
      )}
      <div class="recipients">
        <label for={id}>{words.subject}</label>
        <input
          id={id}
          class="composer-subject"
          type="text"
          value={subject}
          onInput={(event) => writer.change({ subject: event.currentTarget.value })}
        />
      </div>
    </div>
  )
}

/** Shown where there is a choice. */
function From({ writer }: { writer: DraftWriter }) {
  const id = useId()
  const [identities, setIdentities] = useState<readonly Identity[]>([])
  useEffect(() => {
    listIdentities(writer.data.api).then(setIdentities, () => null)
  }, [writer])
  if (identities.length < 2) return null
  const chosen = writer.fields.value.identityId ?? identities.find(({ is_primary: isPrimary }) => isPrimary)?.id
  return (
    <div class="recipients">
      <label for={id}>{words.from}</label>
      <select
        id={id}
        class="composer-subject"
        value={chosen}
        onChange={(event) => writer.change({ identityId: event.currentTarget.value })}
      >
        {identities.map(({ id: identity, name, email }) => (
          <option key={identity} value={identity}>
            {name === '' ? email : `${name} <${email}>`}
          </option>
        ))}
      </select>
    </div>
  )
}
