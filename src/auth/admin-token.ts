/** Whether a token is the host's ADMIN_TOKEN. Digests are compared, so that time tells neither content nor length. */
export const isAdminToken = async (token: string, { ADMIN_TOKEN }: Pick<Env, 'ADMIN_TOKEN'>): Promise<boolean> => {
  if (!ADMIN_TOKEN) return false
  const [given, wanted] = await Promise.all([digest(token), digest(ADMIN_TOKEN)])
  return crypto.subtle.timingSafeEqual(given, wanted)
}

const digest = (text: string): Promise<ArrayBuffer> => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
