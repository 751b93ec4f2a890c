// The signing secret, shown once.

import { Button } from '../../parts/button.tsx'
import { Secret } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { common } from '../../words/en/common.ts'
import { webhooks as words } from '../../words/en/webhooks.ts'

export function ShownSecret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog title={words.secretTitle} isWide onClose={onClose} foot={<Button onPress={onClose}>{common.done}</Button>}>
      <p class="soft">
        {words.secretText} {common.shownOnce}
      </p>
      <Secret text={secret} />
    </Dialog>
  )
}
