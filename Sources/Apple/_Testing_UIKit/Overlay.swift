// A file that imports both Testing and UIKit also imports this module, which the compiler finds by
// its name. On Apple's systems it attaches images to tests; this one is empty.
