/* The indefinite article of a name that the user chose, by its sound as far as the spelling shows it. */
#ifndef TMI_BASE_ARTICLE_H
#define TMI_BASE_ARTICLE_H

/* "a" or "an": a school, an employee, an hour, a university, a European, an X-ray, an NGO. */
const char *tmi_article(const char *word);

#endif
