/* plain.h - other people's words, for a person's terminal */
#ifndef CORE_PLAIN_H
#define CORE_PLAIN_H

/*
 * Make it one line that holds nothing a terminal obeys, in place: a blank for
 * what is white, '?' for every other control character, C1 in UTF-8 too.
 */
void plain_text(char *text);

#endif
