/** The Major.Minor of an A2A protocol version; patch numbers never count. Other text comes back as it is. */
export const majorMinor = (version: string): string => /^(\d+\.\d+)(?:\.\d+)?$/.exec(version.trim())?.[1] ?? version

/** Whether an interface speaks a version of A2A before 1.0. */
export const isPreV1 = (version: string): boolean => version.startsWith('0.')

/** The form that v0.x readers expect: with a patch number. */
export const toPatchVersion = (version: string): string => (/^0\.\d+$/.test(version) ? `${version}.0` : version)
