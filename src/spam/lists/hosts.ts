// Hosts on which anybody publishes a page, a form or a redirect within minutes, and domains at which anybody gets an address.

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/**
 * Free hosting of pages, forms and files, by the domain below which the pages are. Source: the private section of the Public Suffix List
 * (publicsuffix.org), and the help pages of the services.
 */
export const FREE_HOSTS = words(`
  web.app firebaseapp.com pages.dev workers.dev r2.dev vercel.app netlify.app herokuapp.com onrender.com glitch.me repl.co replit.app
  github.io gitlab.io surge.sh blogspot.com weebly.com weeblysite.com wixsite.com wixstudio.com webflow.io square.site godaddysites.com
  000webhostapp.com yolasite.com jimdosite.com jimdofree.com strikingly.com carrd.co myshopify.com mystrikingly.com tilda.ws
  wordpress.com tumblr.com notion.site framer.app framer.website gitbook.io ipfs.io dweb.link fleek.co cloudflare-ipfs.com
  forms.gle forms.office.com docs.google.com sites.google.com storage.googleapis.com script.google.com drive.google.com
  typeform.com jotform.com formstack.com surveymonkey.com wufoo.com blob.core.windows.net web.core.windows.net azurewebsites.net
  s3.amazonaws.com amplifyapp.com backblazeb2.com digitaloceanspaces.com linodeobjects.com ngrok.io ngrok-free.app trycloudflare.com
  duckdns.org ddns.net no-ip.org hopto.org zapto.org sytes.net serveo.net canva.site beehiiv.com telegra.ph rf.gd epizy.com
`)

/** Services that send a click on to a target in the link, open to everybody. */
export const REDIRECT_TARGET =
  /[?&/](?:url|u|q|link|redirect|redirect_ur[il]|target|dest|destination|goto|next|continue|r)=https?(?::|%3a)/i

/** Free mail. */
export const FREE_MAIL = words(`
  gmail.com googlemail.com outlook.com hotmail.com live.com msn.com yahoo.com ymail.com rocketmail.com aol.com icloud.com me.com mac.com
  proton.me protonmail.com pm.me gmx.com gmx.net gmx.de web.de mail.com mail.ru yandex.com yandex.ru inbox.ru bk.ru list.ru rambler.ru
  zoho.com tutanota.com tuta.io fastmail.com hushmail.com qq.com 163.com 126.com sina.com foxmail.com naver.com daum.net rediffmail.com
  orange.fr laposte.net free.fr wanadoo.fr libero.it virgilio.it t-online.de freenet.de bol.com.br uol.com.br terra.com.br seznam.cz
  wp.pl o2.pl interia.pl hotmail.fr hotmail.co.uk yahoo.co.uk yahoo.fr yahoo.de yahoo.co.jp yahoo.com.br outlook.fr outlook.de usa.com
`)
