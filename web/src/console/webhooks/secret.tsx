// The signing secret, shown once.

import { Button } from '../../parts/button.tsx'
import { Secret } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { common } from '../../words/en/common.ts'
import { webhooks as words } from '../../words/en/webhooks.ts'
import { useTeam } from '../team.ts'

interface ShownSecretProps {
  webhookId: string
  secret: string
  onClose: () => void
}

export function ShownSecret({ webhookId, secret, onClose }: ShownSecretProps) {
  const team = useTeam()
  return (
    <Dialog title={words.secretTitle} isWide onClose={onClose} foot={<Button onPress={onClose}>{common.done}</Button>}>
      <p class="soft">
        {words.secretText} {common.shownOnce}
      </p>
      <Secret text={secret} />
      <p>
        <a href={team.href('webhooks', webhookId, 'verify')} onClick={onClose}>
          {words.secretLink}
        </a>
      </p>
    </Dialog>
  )
}
