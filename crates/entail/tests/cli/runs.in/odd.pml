/* What a model may say: </script><script>document.title = "broken"</script> */
chan post = [3] of { byte };
byte a, b;

active proctype speaker()
{
	printf("<b>Größe & 漢字</b></script> \"quoted\"");
	post!1;
	post!2;
	post!3;
	a < 3 && b > 1 || a + b + a + b + a + b + a + b + a + b + a + b + a + b + a + b + a + b == 200
}

active proctype hearer()
{
	byte heard;

	d_step { len(post) == 3 -> post?heard; post?heard };
	b = heard - 2
}
