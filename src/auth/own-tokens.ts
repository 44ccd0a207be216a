import { containsAdminToken } from './admin-token.ts'

/** The beginning of a token of this host where a token begins; or more of one anywhere: a JWT holds `cc_` by chance. */
const issued = /(?:^|[^\w.~+/-])cc_|cc_[a-z2-7]{12}_/i

/** Whether a header's value holds a token of this host, well or badly written: such a value is for nobody else. */
export const containsHostToken = (value: string, env: Pick<Env, 'ADMIN_TOKEN'>): boolean =>
  [value, ...passwords(value)].some(text => issued.test(text) || containsAdminToken(text, env))

/** What Basic credentials say, decoded. */
const passwords = (value: string): string[] =>
  Array.from(value.matchAll(/\bBasic[ \t]+([\w+/-]+)/gi), ([, word = '']) =>
    // A last character alone holds no byte, and `atob` would throw.
    atob(
      word
        .slice(0, word.length - Number(word.length % 4 === 1))
        .replace(/[-_]/g, letter => (letter === '-' ? '+' : '/')),
    ),
  )
