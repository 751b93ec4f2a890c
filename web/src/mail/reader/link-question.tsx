// Asks before a link that does not lead where it seems to.

import type { MessageView } from '../../api/types.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { common } from '../../words/en/common.ts'
import { mail as words } from '../../words/en/mail.ts'

type Link = MessageView['links'][number]

export function LinkQuestion({ link, onClose }: { link: Link; onClose: () => void }) {
  const foot = (
    <>
      <Button onPress={onClose}>{common.cancel}</Button>
      <a class="button" href={link.href} target="_blank" rel="noopener noreferrer nofollow" onClick={onClose}>
        {words.link.open}
      </a>
    </>
  )
  return (
    <Dialog title={words.link.title} onClose={onClose} foot={foot}>
      <p>{link.warning === null ? words.link.failed : words.link.warnings[link.warning]}</p>
      <p class="link-host">{link.host ?? link.href}</p>
      <p class="soft meta link-address">{link.href}</p>
    </Dialog>
  )
}
