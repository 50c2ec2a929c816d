module posixtrace

go 1.19
