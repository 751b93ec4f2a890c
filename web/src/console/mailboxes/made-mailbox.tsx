// After a mailbox was made: the link that its person signs in with, or the key of its program, shown once.

import { useState } from 'preact/hooks'
import { take, takeList } from '../../api/client.ts'
import type { MailboxAdmin, Member } from '../../api/types.ts'
import { exact } from '../../base/dates.ts'
import { refresh, useAction } from '../../live/query.ts'
import { useRequestKey } from '../../live/request-key.ts'
import { Button } from '../../parts/button.tsx'
import { Secret } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorCard } from '../../parts/quiet.tsx'
import { common } from '../../words/en/common.ts'
import { mailboxes as words } from '../../words/en/mailboxes.ts'
import { people } from '../../words/en/people.ts'
import { useTeam } from '../team.ts'

export interface MadeMailbox {
  mailbox: MailboxAdmin
  /** Of a program. */
  key: string | null
  /** Of a person. */
  member: Member | null
}

/** Makes the person of a new mailbox a member, who owns it by its address. They may be one already. */
export function useInvitation(): (email: string) => Promise<Member> {
  const team = useTeam()
  const headerOf = useRequestKey()
  return async (email) => {
    const { items } = await takeList(team.api.GET('/team/members', { params: { query: { q: email } } }))
    const known = items.find((member) => member.email === email)
    if (known !== undefined) return known
    const body = { email, role: 'user' as const }
    const member = await take(team.api.POST('/team/members', { params: { header: headerOf(body) }, body }))
    refresh(team.id, 'people')
    return member
  }
}

export function Made({ made, onClose }: { made: MadeMailbox; onClose: () => void }) {
  const { mailbox, key, member } = made
  return (
    <Dialog
      title={words.made(mailbox.email)}
      foot={
        <Button kind="primary" onPress={onClose}>
          {words.toMailbox}
        </Button>
      }
      onClose={onClose}
    >
      {key !== null && (
        <>
          <p>{words.keyMade}</p>
          <Secret text={key} />
          <p class="soft">{common.shownOnce}</p>
        </>
      )}
      {member !== null && <PersonLink member={member} />}
    </Dialog>
  )
}

/** A message cannot reach them yet, so an owner of the team hands the link over. */
function PersonLink({ member }: { member: Member }) {
  const team = useTeam()
  const [link, setLink] = useState<{ url: string; until: string } | null>(null)
  const make = useAction(async () => {
    const path = { member_id: member.id }
    const shown = await take(team.api.POST('/team/members/{member_id}/sign-in-link', { params: { path } }))
    setLink({ url: shown.url, until: shown.expires_at })
  })
  if (team.role !== 'owner') return <p>{words.linkByOwner}</p>
  if (link !== null) {
    return (
      <>
        <p>{words.linkHandOver}</p>
        <Secret text={link.url} />
        <p class="soft">{people.linkUntil(exact(link.until))}</p>
      </>
    )
  }
  return (
    <>
      <p>{words.linkNeeded}</p>
      {make.error !== null && <ErrorCard error={make.error} />}
      <div class="row">
        <Button icon="link" isBusy={make.isBusy} onPress={() => void make.run()}>
          {people.makeLink}
        </Button>
      </div>
    </>
  )
}
